"""Kernels of OpenCL and wgpu devices beside what a user of those would write by hand."""
