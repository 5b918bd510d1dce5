// Functions for devices with u64; those of the same name in `library.wgsl` give way.
// In registers 64-bit integers are pairs of words here too.

fn cb_whole(pair: vec2<u32>) -> u64 {
    return u64(pair.x) | (u64(pair.y) << 32u);
}

fn cb_pair(whole: u64) -> vec2<u32> {
    return vec2<u32>(u32(whole & 0xfffffffflu), u32(whole >> 32u));
}

fn cb_product(a: u32, b: u32) -> vec2<u32> {
    return cb_pair(u64(a) * u64(b));
}

fn cb_mul_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return cb_pair(cb_whole(a) * cb_whole(b));
}

// The quotient in x and y, the rest in z and w; for a divisor that is not 0.
fn cb_divided_u64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    let whole = cb_whole(a);
    let divisor = cb_whole(b);
    let quotient = whole / divisor;
    return vec4<u32>(cb_pair(quotient), cb_pair(whole - quotient * divisor));
}
