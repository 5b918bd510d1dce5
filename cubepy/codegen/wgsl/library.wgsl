// Functions that generated WGSL calls; each kernel gets those it needs, without these comments.
// They have one way through: compilers of drivers write them into the kernel wherever they are
// called, and a branch or an early return there costs them more than the work does.
// A 64-bit integer is a pair of words, low word first. `launch.zero` is 0, which no compiler knows.

// ── what compilers must not see through ────────────────────────────────────────────────────────

fn cb_bits(bits: u32) -> f32 {
    return bitcast<f32>(bits ^ launch.zero);
}

fn cb_pin(value: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(value) ^ launch.zero);
}

fn cb_held(value: bool) -> bool {
    return (u32(value) ^ launch.zero) != 0u;
}

// ── integers of one word ───────────────────────────────────────────────────────────────────────

fn cb_trunc_div_i32(a: i32, b: i32) -> i32 {
    let quotient = a / select(b, 1, b == 0 || b == -1);
    return select(select(quotient, -a, b == -1), 0, b == 0);
}

fn cb_trunc_rem_i32(a: i32, b: i32) -> i32 {
    let divisor = select(b, 1, b == 0 || b == -1);
    return a - a / divisor * divisor;
}

fn cb_floor_div_i32(a: i32, b: i32) -> i32 {
    let divisor = select(b, 1, b == 0 || b == -1);
    let quotient = a / divisor;
    let rest = a - quotient * divisor;
    let floored = quotient - i32(rest != 0 && ((rest < 0) != (b < 0)));
    return select(select(floored, -a, b == -1), 0, b == 0);
}

fn cb_floor_mod_i32(a: i32, b: i32) -> i32 {
    let divisor = select(b, 1, b == 0 || b == -1);
    let rest = a - a / divisor * divisor;
    return select(rest, rest + b, rest != 0 && ((rest < 0) != (b < 0)));
}

fn cb_div_u32(a: u32, b: u32) -> u32 {
    return select(a / max(b, 1u), 0u, b == 0u);
}

fn cb_mod_u32(a: u32, b: u32) -> u32 {
    let divisor = max(b, 1u);
    return a - a / divisor * divisor;
}

fn cb_shl_i32(value: i32, count: u32) -> i32 {
    return select(0, value << (count & 31u), count < 32u);
}

fn cb_shl_u32(value: u32, count: u32) -> u32 {
    return select(0u, value << (count & 31u), count < 32u);
}

fn cb_shr_i32(value: i32, count: u32) -> i32 {
    return value >> min(count, 31u);
}

fn cb_shr_u32(value: u32, count: u32) -> u32 {
    return select(0u, value >> (count & 31u), count < 32u);
}

fn cb_product(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let one = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let two = (a & 0xffffu) * (b >> 16u) + (one & 0xffffu);
    return vec2<u32>(a * b, (a >> 16u) * (b >> 16u) + (one >> 16u) + (two >> 16u));
}

fn cb_mul_hi_u32(a: u32, b: u32) -> u32 {
    return cb_product(a, b).y;
}

fn cb_mul_hi_i32(a: i32, b: i32) -> i32 {
    let high = bitcast<i32>(cb_product(bitcast<u32>(a), bitcast<u32>(b)).y);
    return high - select(0, b, a < 0) - select(0, a, b < 0);
}

fn cb_power_u32(base: u32, exponent: vec2<u32>) -> u32 {
    var result = 1u;
    var factor = base;
    var rest = exponent;
    while (any(rest != vec2<u32>(0u, 0u))) {
        result = select(result, result * factor, (rest.x & 1u) != 0u);
        factor = factor * factor;
        rest = vec2<u32>((rest.x >> 1u) | (rest.y << 31u), rest.y >> 1u);
    }
    return result;
}

fn cb_power_i32(base: i32, exponent: vec2<u32>) -> i32 {
    let reciprocal = select(i32(base == 1), select(1, -1, (exponent.x & 1u) != 0u), base == -1);
    let negative = (exponent.y >> 31u) != 0u;
    let size = select(exponent, vec2<u32>(0u, 0u), negative);
    return select(bitcast<i32>(cb_power_u32(bitcast<u32>(base), size)), reciprocal, negative);
}

fn cb_power_of_u32(base: u32, exponent: vec2<u32>) -> u32 {
    let negative = (exponent.y >> 31u) != 0u;
    let size = select(exponent, vec2<u32>(0u, 0u), negative);
    return select(cb_power_u32(base, size), u32(base == 1u), negative);
}

fn cb_trips_i32(start: i32, stop: i32, by: i32) -> u32 {
    let rises = by > 0;
    let runs = by != 0 && select(start > stop, start < stop, rises);
    let span = select(u32(start) - u32(stop), u32(stop) - u32(start), rises);
    let size = max(select(0u - u32(by), u32(by), rises), 1u);
    return select(0u, (span - 1u) / size + 1u, runs);
}

fn cb_trips_u32(start: u32, stop: u32, by: u32) -> u32 {
    return select(0u, (stop - start - 1u) / max(by, 1u) + 1u, by != 0u && start < stop);
}

// ── integers of two words ──────────────────────────────────────────────────────────────────────

fn cb_wide(value: i32) -> vec2<u32> {
    return vec2<u32>(bitcast<u32>(value), bitcast<u32>(value >> 31u));
}

fn cb_count(count: vec2<u32>) -> u32 {
    return select(count.x, 0xffffffffu, count.y != 0u);
}

fn cb_add_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}

fn cb_neg_64(a: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(0u - a.x, ~a.y + u32(a.x == 0u));
}

fn cb_sub_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

fn cb_mul_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = cb_product(a.x, b.x);
    return vec2<u32>(low.x, low.y + a.x * b.y + a.y * b.x);
}

fn cb_less_u64(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn cb_less_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
    return bitcast<i32>(a.y) < bitcast<i32>(b.y) || (a.y == b.y && a.x < b.x);
}

fn cb_shl_64(value: vec2<u32>, count: u32) -> vec2<u32> {
    let over = value.x << (count & 31u);
    let carried = (value.x >> 1u) >> (31u - (count & 31u));
    let near = vec2<u32>(over, (value.y << (count & 31u)) | carried);
    let moved = select(near, vec2<u32>(0u, over), count >= 32u);
    return select(vec2<u32>(0u, 0u), moved, count < 64u);
}

fn cb_shr_u64(value: vec2<u32>, count: u32) -> vec2<u32> {
    let over = value.y >> (count & 31u);
    let carried = (value.y << 1u) << (31u - (count & 31u));
    let near = vec2<u32>((value.x >> (count & 31u)) | carried, over);
    let moved = select(near, vec2<u32>(over, 0u), count >= 32u);
    return select(vec2<u32>(0u, 0u), moved, count < 64u);
}

fn cb_shr_i64(value: vec2<u32>, count: u32) -> vec2<u32> {
    let sign_bit = bitcast<u32>(bitcast<i32>(value.y) >> 31u);
    let ones = vec2<u32>(sign_bit, sign_bit);
    return cb_shr_u64(value ^ ones, count) ^ ones;
}

fn cb_negative_64(value: vec2<u32>) -> bool {
    return (value.y >> 31u) != 0u;
}

fn cb_abs_64(value: vec2<u32>) -> vec2<u32> {
    return select(value, cb_neg_64(value), cb_negative_64(value));
}

fn cb_sign_i64(value: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(
        select(u32(any(value != vec2<u32>(0u, 0u))), 0xffffffffu, cb_negative_64(value)),
        select(0u, 0xffffffffu, cb_negative_64(value)),
    );
}

fn cb_sign_u64(value: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(u32(any(value != vec2<u32>(0u, 0u))), 0u);
}

fn cb_min_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, cb_less_u64(b, a));
}

fn cb_max_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, cb_less_u64(a, b));
}

fn cb_min_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, cb_less_i64(b, a));
}

fn cb_max_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, cb_less_i64(a, b));
}

// The quotient in x and y, the rest in z and w; for a divisor that is not 0.
fn cb_divided_u64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    let divisor = max(b.x, 1u);
    var quotient = vec2<u32>(a.x / divisor, 0u);
    var rest = vec2<u32>(a.x - quotient.x * divisor, 0u);
    if (a.y != 0u || b.y != 0u) {
        quotient = vec2<u32>(0u, 0u);
        rest = quotient;
        for (var bit = 0u; bit < 64u; bit++) {
            let next = cb_shr_u64(a, 63u - bit).x & 1u;
            let over = (rest.y >> 31u) != 0u;
            rest = vec2<u32>((rest.x << 1u) | next, (rest.y << 1u) | (rest.x >> 31u));
            let takes = over || !cb_less_u64(rest, b);
            rest = select(rest, cb_sub_64(rest, b), takes);
            quotient = vec2<u32>(quotient.x << 1u, (quotient.y << 1u) | (quotient.x >> 31u));
            quotient.x |= u32(takes);
        }
    }
    return vec4<u32>(quotient, rest);
}

fn cb_div_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let zero = vec2<u32>(0u, 0u);
    let nothing = all(b == zero);
    return select(cb_divided_u64(a, select(b, vec2<u32>(1u, 0u), nothing)).xy, zero, nothing);
}

fn cb_mod_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let nothing = all(b == vec2<u32>(0u, 0u));
    return cb_divided_u64(a, select(b, vec2<u32>(1u, 0u), nothing)).zw;
}

fn cb_trunc_div_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let size = cb_div_u64(cb_abs_64(a), cb_abs_64(b));
    return select(size, cb_neg_64(size), cb_negative_64(a) != cb_negative_64(b));
}

fn cb_trunc_rem_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let size = cb_mod_u64(cb_abs_64(a), cb_abs_64(b));
    return select(size, cb_neg_64(size), cb_negative_64(a));
}

fn cb_floor_mod_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let rest = cb_trunc_rem_i64(a, b);
    let moves = any(rest != vec2<u32>(0u, 0u)) && cb_negative_64(rest) != cb_negative_64(b);
    return select(rest, cb_add_64(rest, b), moves);
}

fn cb_floor_div_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let rest = cb_trunc_rem_i64(a, b);
    let moves = any(rest != vec2<u32>(0u, 0u)) && cb_negative_64(rest) != cb_negative_64(b);
    let quotient = cb_trunc_div_i64(a, b);
    return select(quotient, cb_sub_64(quotient, vec2<u32>(1u, 0u)), moves);
}

fn cb_mul_hi_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = cb_product(a.x, b.x);
    let one = cb_add_64(cb_product(a.y, b.x), vec2<u32>(low.y, 0u));
    let two = cb_add_64(cb_product(a.x, b.y), vec2<u32>(one.x, 0u));
    let high = cb_add_64(cb_product(a.y, b.y), vec2<u32>(one.y, 0u));
    return cb_add_64(high, vec2<u32>(two.y, 0u));
}

fn cb_mul_hi_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let zero = vec2<u32>(0u, 0u);
    let high = cb_sub_64(cb_mul_hi_u64(a, b), select(zero, b, cb_negative_64(a)));
    return cb_sub_64(high, select(zero, a, cb_negative_64(b)));
}

fn cb_popcount_64(value: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(countOneBits(value.x) + countOneBits(value.y), 0u);
}

fn cb_clz_64(value: vec2<u32>) -> vec2<u32> {
    let low = 32u + countLeadingZeros(value.x);
    return vec2<u32>(select(countLeadingZeros(value.y), low, value.y == 0u), 0u);
}

fn cb_ctz_64(value: vec2<u32>) -> vec2<u32> {
    let high = 32u + countTrailingZeros(value.y);
    return vec2<u32>(select(countTrailingZeros(value.x), high, value.x == 0u), 0u);
}

fn cb_power_64(base: vec2<u32>, exponent: vec2<u32>) -> vec2<u32> {
    var result = vec2<u32>(1u, 0u);
    var factor = base;
    var rest = exponent;
    while (any(rest != vec2<u32>(0u, 0u))) {
        result = select(result, cb_mul_64(result, factor), (rest.x & 1u) != 0u);
        factor = cb_mul_64(factor, factor);
        rest = cb_shr_u64(rest, 1u);
    }
    return result;
}

fn cb_power_of_u64(base: vec2<u32>, exponent: vec2<u32>) -> vec2<u32> {
    let negative = cb_negative_64(exponent);
    let size = select(exponent, vec2<u32>(0u, 0u), negative);
    let reciprocal = vec2<u32>(u32(all(base == vec2<u32>(1u, 0u))), 0u);
    return select(cb_power_64(base, size), reciprocal, negative);
}

fn cb_power_i64(base: vec2<u32>, exponent: vec2<u32>) -> vec2<u32> {
    let negative = cb_negative_64(exponent);
    let zero = vec2<u32>(0u, 0u);
    let one = vec2<u32>(1u, 0u);
    let minus_one = vec2<u32>(0xffffffffu, 0xffffffffu);
    let power = cb_power_64(base, select(exponent, zero, negative));
    let turned = select(one, minus_one, (exponent.x & 1u) != 0u);
    let reciprocal = select(select(zero, turned, all(base == minus_one)), one, all(base == one));
    return select(power, reciprocal, negative);
}

fn cb_trips_u64(start: vec2<u32>, stop: vec2<u32>, by: vec2<u32>) -> vec2<u32> {
    let zero = vec2<u32>(0u, 0u);
    let runs = any(by != zero) && cb_less_u64(start, stop);
    let last = cb_sub_64(cb_sub_64(stop, start), vec2<u32>(1u, 0u));
    return select(zero, cb_add_64(cb_div_u64(last, by), vec2<u32>(1u, 0u)), runs);
}

fn cb_trips_i64(start: vec2<u32>, stop: vec2<u32>, by: vec2<u32>) -> vec2<u32> {
    let zero = vec2<u32>(0u, 0u);
    let falls = cb_negative_64(by);
    let near = select(start, stop, falls);
    let far = select(stop, start, falls);
    let runs = any(by != zero) && cb_less_i64(near, far);
    let last = cb_sub_64(cb_sub_64(far, near), vec2<u32>(1u, 0u));
    let trips = cb_add_64(cb_div_u64(last, cb_abs_64(by)), vec2<u32>(1u, 0u));
    return select(zero, trips, runs);
}

fn cb_inside(subscript: vec2<u32>, extent: i32) -> bool {
    return subscript.y == 0u && subscript.x < u32(extent);
}

// ── floats: special values, order ──────────────────────────────────────────────────────────────

fn cb_isnan(value: f32) -> bool {
    return (bitcast<u32>(value) & 0x7fffffffu) > 0x7f800000u;
}

fn cb_isinf(value: f32) -> bool {
    return (bitcast<u32>(value) & 0x7fffffffu) == 0x7f800000u;
}

fn cb_isfinite(value: f32) -> bool {
    return (bitcast<u32>(value) & 0x7fffffffu) < 0x7f800000u;
}

fn cb_nonzero(value: f32) -> bool {
    return (bitcast<u32>(value) & 0x7fffffffu) != 0u;
}

// An integer that is in the order of the floats, -0.0 before 0.0.
fn cb_order(value: f32) -> i32 {
    let bits = bitcast<i32>(value);
    return bits ^ ((bits >> 31u) & 0x7fffffff);
}

fn cb_min(a: f32, b: f32) -> f32 {
    return select(b, a, cb_isnan(a) || (!cb_isnan(b) && cb_order(a) <= cb_order(b)));
}

fn cb_max(a: f32, b: f32) -> f32 {
    return select(b, a, cb_isnan(a) || (!cb_isnan(b) && cb_order(a) >= cb_order(b)));
}

fn cb_fmin(a: f32, b: f32) -> f32 {
    return select(b, a, cb_isnan(b) || (!cb_isnan(a) && cb_order(a) <= cb_order(b)));
}

fn cb_fmax(a: f32, b: f32) -> f32 {
    return select(b, a, cb_isnan(b) || (!cb_isnan(a) && cb_order(a) >= cb_order(b)));
}

fn cb_neg(value: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(value) ^ 0x80000000u);
}

fn cb_abs(value: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(value) & 0x7fffffffu);
}

fn cb_copysign(size: f32, sign_bit: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(size) & 0x7fffffffu) | (bitcast<u32>(sign_bit) & 0x80000000u));
}

fn cb_sign(value: f32) -> f32 {
    return select(cb_copysign(1.0, value), value, cb_isnan(value) || !cb_nonzero(value));
}

// ── floats: rounding to integers ───────────────────────────────────────────────────────────────

fn cb_trunc(value: f32) -> f32 {
    let bits = bitcast<u32>(value);
    let exponent = (bits >> 23u) & 255u;
    let mask = select(0x7fffffu >> min(exponent - 127u, 31u), 0x7fffffffu, exponent < 127u);
    return bitcast<f32>(bits & ~mask);
}

fn cb_floor(value: f32) -> f32 {
    let whole = cb_trunc(value);
    let below = (bitcast<u32>(value) >> 31u) != 0u && bitcast<u32>(whole) != bitcast<u32>(value);
    return select(whole, whole - 1.0, below);
}

fn cb_ceil(value: f32) -> f32 {
    return cb_neg(cb_floor(cb_neg(value)));
}

fn cb_round(value: f32) -> f32 {
    let bits = bitcast<u32>(value);
    let size = bits & 0x7fffffffu;
    let place = 150u - clamp(size >> 23u, 127u, 149u);
    let odd = (size >> place) & 1u;
    let near = ((size + (1u << (place - 1u)) - 1u + odd) >> place) << place;
    let small = select(0u, 0x3f800000u, size > 0x3f000000u);
    let rounded = select(near, small, size < 0x3f800000u);
    return bitcast<f32>((bits & 0x80000000u) | select(rounded, size, size >= 0x4b000000u));
}

// ── floats: exact arithmetic in integers ───────────────────────────────────────────────────────

// A significand with its highest bit at 2^23, and the biased exponent that goes with it.
fn cb_parts(value: f32) -> vec2<u32> {
    let bits = bitcast<u32>(value) & 0x7fffffffu;
    let exponent = bits >> 23u;
    let moved = countLeadingZeros(bits) - 8u;
    let small = vec2<u32>(bits << (moved & 31u), 1u - moved);
    let plain = vec2<u32>((bits & 0x7fffffu) | 0x800000u, exponent);
    return select(plain, small, exponent == 0u);
}

// The float of a significand whose highest bit is 2^30 and lowest stands for all that follows;
// rounded to nearest even, or to odd, from which a second rounding is right.
fn cb_rounded(sign_bit: u32, exponent: i32, significand: u32, odd: bool) -> f32 {
    let places = u32(clamp(1 - exponent, 0, 31));
    let rest = (significand >> places) | u32((significand & ((1u << places) - 1u)) != 0u);
    let scale = max(exponent, 1);
    let lost = rest & 127u;
    let kept = rest >> 7u;
    let near = kept + u32(lost > 64u || (lost == 64u && (kept & 1u) != 0u));
    let chosen = select(near, kept | u32(lost != 0u), odd);
    let bits = (u32(scale - 1) << 23u) + chosen;
    let most = select(0x7f800000u, 0x7f7fffffu, odd);
    return bitcast<f32>(sign_bit | select(bits, most, scale >= 255 || bits >= 0x7f800000u));
}

// A pair of words as a float, times a power of two.
fn cb_float_of(sign_bit: u32, size: vec2<u32>, scale: i32, odd: bool) -> f32 {
    let zeros = cb_clz_64(size).x;
    let moved = cb_shl_64(size, zeros);
    let significand = (moved.y >> 1u) | u32(moved.x != 0u || (moved.y & 1u) != 0u);
    let made = cb_rounded(sign_bit, scale + 190 - i32(zeros), significand, odd);
    return select(made, bitcast<f32>(sign_bit), zeros == 64u);
}

fn cb_div(a: f32, b: f32) -> f32 {
    let above = cb_parts(a);
    let below = cb_parts(b);
    let less = above.x < below.x;
    var rest = select(above.x, above.x << 1u, less);
    var quotient = 0u;
    for (var bit = 0; bit < 26; bit++) {
        let takes = rest >= below.x;
        quotient = (quotient << 1u) | u32(takes);
        rest = select(rest, rest - below.x, takes) << 1u;
    }
    let sign_bit = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
    let exponent = i32(above.y) - i32(below.y) + 127 - i32(less);
    let made = cb_rounded(sign_bit, exponent, (quotient << 5u) | u32(rest != 0u), false);
    let nothing = bitcast<f32>(sign_bit);
    let small = select(made, nothing, cb_isinf(b) || !cb_nonzero(a));
    let endless = bitcast<f32>(sign_bit | 0x7f800000u);
    let large = select(small, endless, cb_isinf(a) || !cb_nonzero(b));
    let neither = !(cb_nonzero(a) || cb_nonzero(b)) || (cb_isinf(a) && cb_isinf(b));
    return select(large, cb_bits(0x7fc00000u), cb_isnan(a) || cb_isnan(b) || neither);
}

fn cb_sqrt(value: f32) -> f32 {
    let parts = cb_parts(value);
    let exponent = i32(parts.y) - 127;
    // 24 or 25 bits, and zeros behind them, two bits a digit of the root
    var radicand = (parts.x << u32(exponent & 1)) << 7u;
    var root = 0u;
    var rest = 0u;
    for (var digit = 0; digit < 26; digit++) {
        rest = (rest << 2u) | (radicand >> 30u);
        radicand <<= 2u;
        let trial = (root << 2u) | 1u;
        let takes = rest >= trial;
        rest = select(rest, rest - trial, takes);
        root = (root << 1u) | u32(takes);
    }
    let made = cb_rounded(0u, (exponent >> 1u) + 127, (root << 5u) | u32(rest != 0u), false);
    let same = cb_isnan(value) || !cb_nonzero(value) || bitcast<u32>(value) == 0x7f800000u;
    let negative = (bitcast<u32>(value) >> 31u) != 0u;
    return select(select(made, cb_bits(0x7fc00000u), negative), value, same);
}

fn cb_fmod(a: f32, b: f32) -> f32 {
    let above = cb_parts(a);
    let below = cb_parts(b);
    let less = (bitcast<u32>(a) & 0x7fffffffu) < (bitcast<u32>(b) & 0x7fffffffu);
    let known = cb_isfinite(a) && !cb_isnan(b) && cb_nonzero(b);
    let last = select(-1, i32(above.y) - i32(below.y), known && !less);
    var rest = above.x;
    for (var by = 0; by < last; by++) {
        rest = select(rest, rest - below.x, rest >= below.x) << 1u;
    }
    rest = select(rest, rest - below.x, rest >= below.x);
    let sign_bit = bitcast<u32>(a) & 0x80000000u;
    let made = cb_float_of(sign_bit, vec2<u32>(rest, 0u), i32(below.y) - 150, false);
    return select(cb_bits(0x7fc00000u), select(made, a, less), known);
}

fn cb_floor_mod(a: f32, b: f32) -> f32 {
    let rest = cb_fmod(a, b);
    let turns = ((bitcast<u32>(rest) ^ bitcast<u32>(b)) >> 31u) != 0u && !cb_isnan(rest);
    return select(cb_copysign(0.0, b), select(rest, rest + b, turns), cb_nonzero(rest));
}

fn cb_floor_div(a: f32, b: f32) -> f32 {
    let plain = cb_div(a, b);
    let rest = cb_fmod(a, b);
    let whole = cb_div(cb_pin(a - rest), b);
    let turns = ((bitcast<u32>(rest) ^ bitcast<u32>(b)) >> 31u) != 0u;
    let turned = cb_nonzero(rest) && turns && !cb_isnan(rest);
    let quotient = select(whole, cb_pin(whole - 1.0), turned);
    let floored = cb_pin(cb_floor(quotient));
    let near = select(floored, floored + 1.0, cb_held((cb_pin(quotient - floored) > 0.5)));
    let made = select(cb_copysign(0.0, plain), near, cb_nonzero(quotient));
    return select(made, plain, !cb_nonzero(b) || cb_isnan(plain));
}

fn cb_fused(a: f32, b: f32, c: f32, odd: bool) -> f32 {
    let first = cb_parts(a);
    let second = cb_parts(b);
    let third = cb_parts(c);
    let product = cb_shl_64(cb_product(first.x, second.x), 14u);
    let term = select(vec2<u32>(0u, 0u), cb_shl_64(vec2<u32>(third.x, 0u), 38u), cb_nonzero(c));
    let scale = i32(first.y) + i32(second.y) - 314;
    let other = select(i32(third.y) - 188, scale - 1, !cb_nonzero(c));
    let apart = scale - other;
    let below = cb_jammed(select(product, term, apart > 0), u32(abs(apart)));
    let above = select(term, product, apart > 0);
    let sign_bit = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
    let term_sign = bitcast<u32>(c) & 0x80000000u;
    let below_sign = select(sign_bit, term_sign, apart > 0);
    let above_sign = select(term_sign, sign_bit, apart > 0);
    let less = cb_less_u64(above, below);
    let difference = cb_sub_64(select(above, below, less), select(below, above, less));
    let opposed = sign_bit != term_sign;
    let size = select(cb_add_64(above, below), difference, opposed);
    let size_sign = select(above_sign, below_sign, opposed && less);
    let exact = opposed && all(size == vec2<u32>(0u, 0u));
    let made = cb_float_of(select(size_sign, 0u, exact), size, max(scale, other), odd);
    let finite = cb_isfinite(a) && cb_isfinite(b);
    let special = select(cb_pin(a * b) + c, c, !cb_isfinite(c) && finite);
    let plain = finite && cb_isfinite(c) && cb_nonzero(a) && cb_nonzero(b);
    return select(special, made, plain);
}

// A shift to the right in which the lowest bit stands for all that is lost.
fn cb_jammed(value: vec2<u32>, places: u32) -> vec2<u32> {
    let moved = cb_shr_u64(value, places);
    let lost = any(cb_shl_64(moved, places) != value);
    return vec2<u32>(moved.x | u32(lost), moved.y);
}

fn cb_fma(a: f32, b: f32, c: f32) -> f32 {
    return cb_fused(a, b, c, false);
}

fn cb_odd_fma(a: f32, b: f32, c: f32) -> f32 {
    return cb_fused(a, b, c, true);
}

// ── floats from and to integers ────────────────────────────────────────────────────────────────

fn cb_f32_of_u64(value: vec2<u32>) -> f32 {
    return cb_float_of(0u, value, 0, false);
}

fn cb_f32_of_i64(value: vec2<u32>) -> f32 {
    return cb_float_of(value.y & 0x80000000u, cb_abs_64(value), 0, false);
}

fn cb_odd_of_u64(value: vec2<u32>) -> f32 {
    return cb_float_of(0u, value, 0, true);
}

fn cb_odd_of_i64(value: vec2<u32>) -> f32 {
    return cb_float_of(value.y & 0x80000000u, cb_abs_64(value), 0, true);
}

// The size of a float as a pair of words, without what is behind the point; below 2^64.
fn cb_size_of_f32(value: f32) -> vec2<u32> {
    let parts = cb_parts(value);
    let places = i32(parts.y) - 150;
    let significand = vec2<u32>(parts.x, 0u);
    let large = cb_shl_64(significand, u32(max(places, 0)));
    return select(cb_shr_u64(significand, u32(max(-places, 0))), large, places > 0);
}

fn cb_u64_of_f32(value: f32) -> vec2<u32> {
    let bits = bitcast<u32>(value);
    let most = select(cb_size_of_f32(value), vec2<u32>(0xffffffffu, 0xffffffffu), bits >= 0x5f800000u);
    let nothing = cb_isnan(value) || (bits >> 31u) != 0u || bits == 0u;
    return select(most, vec2<u32>(0u, 0u), nothing);
}

fn cb_i64_of_f32(value: f32) -> vec2<u32> {
    let bits = bitcast<u32>(value);
    let negative = (bits >> 31u) != 0u;
    let size = cb_size_of_f32(value);
    let inside = select(size, cb_neg_64(size), negative);
    let end = select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), negative);
    let made = select(inside, end, (bits & 0x7fffffffu) >= 0x5f000000u);
    return select(vec2<u32>(0u, 0u), made, !cb_isnan(value) && cb_nonzero(value));
}

fn cb_i32_of_f32(value: f32, least: i32, most: i32) -> i32 {
    let parts = cb_parts(value);
    let places = clamp(i32(parts.y) - 150, -31, 8);
    let size = select(parts.x >> u32(max(-places, 0)), parts.x << u32(max(places, 0)), places > 0);
    let negative = (bitcast<u32>(value) >> 31u) != 0u;
    let large = (bitcast<u32>(value) & 0x7fffffffu) >= 0x4f000000u;
    let inside = clamp(select(i32(size), -i32(size), negative), least, most);
    let made = select(inside, select(most, least, negative), large);
    return select(0, made, !cb_isnan(value) && cb_nonzero(value));
}

fn cb_u32_of_f32(value: f32, most: u32) -> u32 {
    let parts = cb_parts(value);
    let places = clamp(i32(parts.y) - 150, -31, 8);
    let size = select(parts.x >> u32(max(-places, 0)), parts.x << u32(max(places, 0)), places > 0);
    let bits = bitcast<u32>(value);
    let made = select(min(size, most), most, bits >= 0x4f800000u);
    return select(made, 0u, cb_isnan(value) || (bits >> 31u) != 0u || bits == 0u);
}

// ── halves ─────────────────────────────────────────────────────────────────────────────────────

fn cb_widen_f16(bits: u32) -> f32 {
    let exponent = (bits >> 10u) & 31u;
    let rest = bits & 0x3ffu;
    let moved = countLeadingZeros(rest) - 21u;
    let small = ((113u - moved) << 23u) | (((rest << (moved & 31u)) & 0x3ffu) << 13u);
    let plain = select((exponent + 112u) << 23u, 0x7f800000u, exponent == 31u) | (rest << 13u);
    let size = select(plain, select(0u, small, rest != 0u), exponent == 0u);
    return bitcast<f32>(((bits & 0x8000u) << 16u) | size);
}

fn cb_narrow_f16(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    let size = bits & 0x7fffffffu;
    let exponent = i32(size >> 23u) - 112;
    let significand = (size & 0x7fffffu) | select(0u, 0x800000u, size >= 0x800000u);
    let places = min(u32(select(13, 14 - exponent, exponent <= 0)), 31u);
    let lost = significand & ((1u << places) - 1u);
    let middle = 1u << (places - 1u);
    let kept = significand >> places;
    let up = lost > middle || (lost == middle && (kept & 1u) != 0u);
    let near = min(0x7c00u, (u32(max(exponent, 1) - 1) << 10u) + kept + u32(up));
    let nan = 0x7e00u | ((size >> 13u) & 0x1ffu);
    return ((bits >> 16u) & 0x8000u) | select(near, nan, size > 0x7f800000u);
}

fn cb_widen_bf16(bits: u32) -> f32 {
    return bitcast<f32>(bits << 16u);
}

fn cb_narrow_bf16(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    let upper = bits >> 16u;
    return select((bits + (upper & 1u) + 0x7fffu) >> 16u, upper | 0x40u, cb_isnan(value));
}
