// Functions for devices that convert halves as they should; those of `library.wgsl` give way.

fn cb_widen_f16(bits: u32) -> f32 {
    return unpack2x16float(bits).x;
}

fn cb_narrow_f16(value: f32) -> u32 {
    return pack2x16float(vec2<f32>(value, 0.0));
}
