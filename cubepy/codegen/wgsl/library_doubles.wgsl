// Functions for devices with f64, which have u64 too; those of the same name elsewhere give way.
// In registers 64-bit integers are pairs of words here too; an f64 is an f64.

// ── what compilers must not see through ────────────────────────────────────────────────────────

fn cb_pin_f64(value: f64) -> f64 {
    return bitcast<f64>(bitcast<u64>(value) ^ u64(launch.zero));
}

fn cb_bits_f64(bits: u64) -> f64 {
    return bitcast<f64>(bits ^ u64(launch.zero));
}

fn cb_f64_of_pair(pair: vec2<u32>) -> f64 {
    return bitcast<f64>(cb_whole(pair));
}

fn cb_pair_of_f64(value: f64) -> vec2<u32> {
    return cb_pair(bitcast<u64>(value));
}

// ── fused products of f32 ──────────────────────────────────────────────────────────────────────

// The product is exact; the sum is rounded to odd, from which the second rounding is right.
fn cb_fma(a: f32, b: f32, c: f32) -> f32 {
    let product = f64(a) * f64(b);
    let term = f64(c);
    let total = cb_pin_f64(product + term);
    let part = cb_pin_f64(total - product);
    let lost = cb_pin_f64(product - cb_pin_f64(total - part)) + cb_pin_f64(term - part);
    let bits = bitcast<u64>(total);
    let away = (lost > 0.0lf) == (total > 0.0lf);
    let moved = select(bits - 1lu, bits + 1lu, away);
    let inexact = (lost > 0.0lf || lost < 0.0lf) && (bits & 1lu) == 0lu;
    return f32(bitcast<f64>(select(bits, moved, inexact)));
}

// ── special values, order ──────────────────────────────────────────────────────────────────────

fn cb_size_f64(value: f64) -> u64 {
    return bitcast<u64>(value) & 0x7ffffffffffffffflu;
}

fn cb_sign_f64_bit(value: f64) -> u64 {
    return bitcast<u64>(value) & 0x8000000000000000lu;
}

fn cb_isnan_f64(value: f64) -> bool {
    return cb_size_f64(value) > 0x7ff0000000000000lu;
}

fn cb_isinf_f64(value: f64) -> bool {
    return cb_size_f64(value) == 0x7ff0000000000000lu;
}

fn cb_isfinite_f64(value: f64) -> bool {
    return cb_size_f64(value) < 0x7ff0000000000000lu;
}

fn cb_nonzero_f64(value: f64) -> bool {
    return cb_size_f64(value) != 0lu;
}

// An integer that is in the order of the floats, -0.0 before 0.0.
fn cb_order_f64(value: f64) -> u64 {
    let bits = bitcast<u64>(value);
    return select(bits | 0x8000000000000000lu, ~bits, (bits >> 63u) != 0lu);
}

fn cb_min_f64(a: f64, b: f64) -> f64 {
    return select(b, a, cb_isnan_f64(a) || (!cb_isnan_f64(b) && cb_order_f64(a) <= cb_order_f64(b)));
}

fn cb_max_f64(a: f64, b: f64) -> f64 {
    return select(b, a, cb_isnan_f64(a) || (!cb_isnan_f64(b) && cb_order_f64(a) >= cb_order_f64(b)));
}

fn cb_fmin_f64(a: f64, b: f64) -> f64 {
    return select(b, a, cb_isnan_f64(b) || (!cb_isnan_f64(a) && cb_order_f64(a) <= cb_order_f64(b)));
}

fn cb_fmax_f64(a: f64, b: f64) -> f64 {
    return select(b, a, cb_isnan_f64(b) || (!cb_isnan_f64(a) && cb_order_f64(a) >= cb_order_f64(b)));
}

fn cb_neg_f64(value: f64) -> f64 {
    return bitcast<f64>(bitcast<u64>(value) ^ 0x8000000000000000lu);
}

fn cb_abs_f64(value: f64) -> f64 {
    return bitcast<f64>(cb_size_f64(value));
}

fn cb_copysign_f64(size: f64, sign_bit: f64) -> f64 {
    return bitcast<f64>(cb_size_f64(size) | cb_sign_f64_bit(sign_bit));
}

fn cb_sign_f64(value: f64) -> f64 {
    let same = cb_isnan_f64(value) || !cb_nonzero_f64(value);
    return select(cb_copysign_f64(1.0lf, value), value, same);
}

// ── rounding to integers ───────────────────────────────────────────────────────────────────────

fn cb_trunc_f64(value: f64) -> f64 {
    let bits = bitcast<u64>(value);
    let exponent = u32(cb_size_f64(value) >> 52u);
    let inside = 0xffffffffffffflu >> min(exponent - 1023u, 63u);
    return bitcast<f64>(bits & ~select(inside, 0x7ffffffffffffffflu, exponent < 1023u));
}

fn cb_floor_f64(value: f64) -> f64 {
    let whole = cb_trunc_f64(value);
    let below = cb_sign_f64_bit(value) != 0lu && bitcast<u64>(whole) != bitcast<u64>(value);
    return select(whole, whole - 1.0lf, below);
}

fn cb_ceil_f64(value: f64) -> f64 {
    return cb_neg_f64(cb_floor_f64(cb_neg_f64(value)));
}

fn cb_round_f64(value: f64) -> f64 {
    let size = cb_size_f64(value);
    let place = 1075u - clamp(u32(size >> 52u), 1023u, 1074u);
    let odd = (size >> place) & 1lu;
    let near = ((size + (1lu << (place - 1u)) - 1lu + odd) >> place) << place;
    let small = select(0lu, 0x3ff0000000000000lu, size > 0x3fe0000000000000lu);
    let rounded = select(near, small, size < 0x3ff0000000000000lu);
    let made = select(rounded, size, size >= 0x4330000000000000lu);
    return bitcast<f64>(cb_sign_f64_bit(value) | made);
}

// ── exact arithmetic in integers ───────────────────────────────────────────────────────────────

fn cb_zeros_u64(value: u64) -> u32 {
    return cb_clz_64(cb_pair(value)).x;
}

// A shift to the right, or by nothing, in which the lowest bit stands for all that is lost.
fn cb_jammed_u64(value: u64, places: u32) -> u64 {
    let by = min(places, 63u);
    let kept = value >> by;
    let lost = (kept << by) != value || (places > 63u && value != 0lu);
    return select(kept, select(kept, 0lu, places > 63u) | 1lu, lost);
}

// A significand with its highest bit at 2^52; 0 for 0.
fn cb_significand_f64(value: f64) -> u64 {
    let size = cb_size_f64(value);
    let plain = (size & 0xffffffffffffflu) | 0x10000000000000lu;
    let moved = size << ((cb_zeros_u64(size) - 11u) & 63u);
    return select(plain, moved, size < 0x10000000000000lu);
}

// The biased exponent that goes with it.
fn cb_exponent_f64(value: f64) -> i32 {
    let size = cb_size_f64(value);
    let small = 12 - i32(cb_zeros_u64(size));
    return select(i32(u32(size >> 52u)), small, size < 0x10000000000000lu);
}

// The float of a significand whose highest bit is 2^62 and lowest stands for all that follows.
fn cb_rounded_f64(sign_bit: u64, exponent: i32, significand: u64) -> f64 {
    let rest = cb_jammed_u64(significand, u32(clamp(1 - exponent, 0, 64)));
    let scale = max(exponent, 1);
    let lost = rest & 1023lu;
    let kept = rest >> 10u;
    let up = lost > 512lu || (lost == 512lu && (kept & 1lu) != 0lu);
    let bits = (u64(u32(scale - 1)) << 52u) + kept + select(0lu, 1lu, up);
    let endless = scale >= 2047 || bits >= 0x7ff0000000000000lu;
    return bitcast<f64>(sign_bit | select(bits, 0x7ff0000000000000lu, endless));
}

fn cb_fmod_f64(a: f64, b: f64) -> f64 {
    let less = cb_size_f64(a) < cb_size_f64(b);
    let known = cb_isfinite_f64(a) && !cb_isnan_f64(b) && cb_nonzero_f64(b);
    let last = select(-1, cb_exponent_f64(a) - cb_exponent_f64(b), known && !less);
    let below = cb_significand_f64(b);
    var rest = cb_significand_f64(a);
    for (var by = 0; by < last; by++) {
        rest = select(rest, rest - below, rest >= below) << 1u;
    }
    rest = select(rest, rest - below, rest >= below);
    let zeros = cb_zeros_u64(rest);
    let exponent = cb_exponent_f64(b) + 11 - i32(zeros);
    let size = cb_rounded_f64(cb_sign_f64_bit(a), exponent, rest << ((zeros - 1u) & 63u));
    let made = select(size, bitcast<f64>(cb_sign_f64_bit(a)), rest == 0lu);
    return select(cb_bits_f64(0x7ff8000000000000lu), select(made, a, less), known);
}

fn cb_floor_mod_f64(a: f64, b: f64) -> f64 {
    let rest = cb_fmod_f64(a, b);
    let turns = cb_sign_f64_bit(rest) != cb_sign_f64_bit(b) && !cb_isnan_f64(rest);
    let made = select(rest, rest + b, turns);
    return select(cb_copysign_f64(0.0lf, b), made, cb_nonzero_f64(rest));
}

fn cb_floor_div_f64(a: f64, b: f64) -> f64 {
    let divisor = cb_pin_f64(b);
    let plain = cb_pin_f64(cb_pin_f64(a) / divisor);
    let rest = cb_fmod_f64(a, b);
    let whole = cb_pin_f64(cb_pin_f64(a - rest) / divisor);
    let turns = cb_sign_f64_bit(rest) != cb_sign_f64_bit(b);
    let turned = cb_nonzero_f64(rest) && turns && !cb_isnan_f64(rest);
    let quotient = select(whole, cb_pin_f64(whole - 1.0lf), turned);
    let floored = cb_pin_f64(cb_floor_f64(quotient));
    let far = cb_held((cb_pin_f64(quotient - floored) > 0.5lf));
    let near = select(floored, floored + 1.0lf, far);
    let made = select(cb_copysign_f64(0.0lf, plain), near, cb_nonzero_f64(quotient));
    return select(made, plain, !cb_nonzero_f64(b) || cb_isnan_f64(plain));
}

// The highest bit of the product is 2^124 or 2^125, that of the term 2^125.
fn cb_fma_f64(a: f64, b: f64, c: f64) -> f64 {
    let first = cb_pair(cb_significand_f64(a) << 10u);
    let second = cb_pair(cb_significand_f64(b) << 10u);
    let product_low = cb_whole(first) * cb_whole(second);
    let product_high = cb_whole(cb_mul_hi_u64(first, second));
    let term_high = select(0lu, cb_significand_f64(c) << 9u, cb_nonzero_f64(c));
    let scale = cb_exponent_f64(a) + cb_exponent_f64(b) - 1022;
    let other = select(cb_exponent_f64(c), scale - 1, term_high == 0lu);
    let over = scale > other;
    let places = u32(abs(scale - other));
    // the one of the lower exponent is moved, and what it loses stays in its lowest bit
    let moved_high = select(product_high, term_high, over);
    let moved_low = select(product_low, 0lu, over);
    let above_high = select(term_high, product_high, over);
    let above_low = select(0lu, product_low, over);
    let near = min(places, 63u);
    let carried = (moved_high << 1u) << (63u - near);
    let low_lost = ((moved_low >> near) << near) != moved_low;
    let near_low = (moved_low >> near) | carried | select(0lu, 1lu, low_lost);
    let far_low = cb_jammed_u64(moved_high, places - 64u) | select(0lu, 1lu, moved_low != 0lu);
    let below_high = select(moved_high >> near, 0lu, places > 63u);
    let below_low = select(near_low, far_low, places > 63u);
    let product_sign = cb_sign_f64_bit(a) ^ cb_sign_f64_bit(b);
    let term_sign = cb_sign_f64_bit(c);
    let opposed = product_sign != term_sign;
    let less = above_high < below_high || (above_high == below_high && above_low < below_low);
    let large_high = select(above_high, below_high, less);
    let large_low = select(above_low, below_low, less);
    let small_high = select(below_high, above_high, less);
    let small_low = select(below_low, above_low, less);
    let sum_low = above_low + below_low;
    let sum_high = above_high + below_high + select(0lu, 1lu, sum_low < above_low);
    let borrowed = select(0lu, 1lu, large_low < small_low);
    let size_high = select(sum_high, large_high - small_high - borrowed, opposed);
    let size_low = select(sum_low, large_low - small_low, opposed);
    let exact = size_high == 0lu && size_low == 0lu;
    // its highest bit to 2^62 of a word
    let zeros = select(cb_zeros_u64(size_high), 64u + cb_zeros_u64(size_low), size_high == 0lu);
    let turn = zeros & 63u;
    let top_high = select(size_high, size_low, zeros > 63u);
    let top_low = select(size_low, 0lu, zeros > 63u);
    let top = (top_high << turn) | ((top_low >> 1u) >> (63u - turn));
    let lost = (top_low << turn) != 0lu || (top & 1lu) != 0lu;
    let significand = (top >> 1u) | select(0lu, 1lu, lost);
    let own_sign = select(term_sign, product_sign, over != less);
    let sign_bit = select(select(product_sign, own_sign, opposed), 0lu, exact && opposed);
    let exponent = max(scale, other) + 2 - i32(zeros);
    let rounded = cb_rounded_f64(sign_bit, exponent, significand);
    let made = select(rounded, bitcast<f64>(sign_bit), exact);
    let finite = cb_isfinite_f64(a) && cb_isfinite_f64(b);
    let special = select(cb_pin_f64(a * b) + c, c, !cb_isfinite_f64(c) && finite);
    let plain = finite && cb_isfinite_f64(c) && cb_nonzero_f64(a) && cb_nonzero_f64(b);
    return select(special, made, plain);
}

// ── from and to other numbers ──────────────────────────────────────────────────────────────────

fn cb_f32_from_f64(value: f64, odd: bool) -> f32 {
    let sign_bit = u32(cb_sign_f64_bit(value) >> 32u);
    let size = cb_pair(cb_significand_f64(value));
    let made = cb_float_of(sign_bit, size, cb_exponent_f64(value) - 1075, odd);
    let special = select(0x7f800000u, 0x7fc00000u, cb_isnan_f64(value));
    return select(cb_bits(sign_bit | special), made, cb_isfinite_f64(value));
}

fn cb_f32_of_f64(value: f64) -> f32 {
    return cb_f32_from_f64(value, false);
}

fn cb_odd_of_f64(value: f64) -> f32 {
    return cb_f32_from_f64(value, true);
}

// Both parts are exact, so that their sum is rounded once.
fn cb_f64_of_u64(value: vec2<u32>) -> f64 {
    return f64(value.y) * 4294967296.0lf + f64(value.x);
}

fn cb_f64_of_i64(value: vec2<u32>) -> f64 {
    return f64(bitcast<i32>(value.y)) * 4294967296.0lf + f64(value.x);
}

// The size of a float without what is behind the point; below 2^64.
fn cb_size_of_f64(value: f64) -> vec2<u32> {
    let places = cb_exponent_f64(value) - 1075;
    let significand = cb_pair(cb_significand_f64(value));
    let large = cb_shl_64(significand, u32(max(places, 0)));
    return select(cb_shr_u64(significand, u32(max(-places, 0))), large, places > 0);
}

fn cb_u64_of_f64(value: f64) -> vec2<u32> {
    let ones = vec2<u32>(0xffffffffu, 0xffffffffu);
    let most = select(cb_size_of_f64(value), ones, cb_size_f64(value) >= 0x43f0000000000000lu);
    let nothing = cb_isnan_f64(value) || cb_sign_f64_bit(value) != 0lu || !cb_nonzero_f64(value);
    return select(most, vec2<u32>(0u, 0u), nothing);
}

fn cb_i64_of_f64(value: f64) -> vec2<u32> {
    let negative = cb_sign_f64_bit(value) != 0lu;
    let size = cb_size_of_f64(value);
    let inside = select(size, cb_neg_64(size), negative);
    let end = select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), negative);
    let made = select(inside, end, cb_size_f64(value) >= 0x43e0000000000000lu);
    return select(vec2<u32>(0u, 0u), made, !cb_isnan_f64(value) && cb_nonzero_f64(value));
}

fn cb_i32_of_f64(value: f64, least: i32, most: i32) -> i32 {
    let whole = cb_i64_of_f64(value);
    let low = bitcast<i32>(whole.x);
    let negative = cb_negative_64(whole);
    let inside = whole.y == select(0u, 0xffffffffu, negative) && (low < 0) == negative;
    return select(select(most, least, negative), clamp(low, least, most), inside);
}

fn cb_u32_of_f64(value: f64, most: u32) -> u32 {
    let whole = cb_u64_of_f64(value);
    return select(min(whole.x, most), most, whole.y != 0u);
}
