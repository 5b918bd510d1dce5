// Functions in the place of those of `library.wgsl`, for devices with f64 and u64.

fn cb_pin_f64(value: f64) -> f64 {
    return bitcast<f64>(bitcast<u64>(value) ^ u64(launch.zero));
}

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
