"""Random kernels: well typed, free of races, bounded, and the same for the same seed."""

from cubepy.testing.generator.assembly import generate_kernel
from cubepy.testing.generator.model import BaseSpec, Feature, GeneratedKernel, Node, render

__all__ = ["BaseSpec", "Feature", "GeneratedKernel", "Node", "generate_kernel", "render"]
