"""Numbers of the HIP and HSA interfaces are those of the vendor's headers, which `tinygrad` contains."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tinygrad.runtime.autogen import hip, hsa

from tooling.simulator.amd import launch_rules
from tooling.simulator.amd.architectures import HipAttribute

DRIVER = Path(launch_rules.__file__).parent / "driver"


@pytest.mark.parametrize("attribute", HipAttribute, ids=lambda attribute: attribute.name)
def test_a_device_attribute_has_its_number(attribute: HipAttribute) -> None:
    assert getattr(hip, f"hipDeviceAttribute{attribute.name}") == attribute


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("MAX_THREADS", "MAX_THREADS_PER_BLOCK"),
        ("SHARED_BYTES", "SHARED_SIZE_BYTES"),
        ("LOCAL_BYTES", "LOCAL_SIZE_BYTES"),
        ("MAX_DYNAMIC_SHARED", "MAX_DYNAMIC_SHARED_SIZE_BYTES"),
    ],
)
def test_a_function_attribute_has_its_number(ours: str, theirs: str) -> None:
    assert getattr(launch_rules, ours) == getattr(hip, f"HIP_FUNC_ATTRIBUTE_{theirs}")


def constants(name: str) -> dict[str, int]:
    """The numbers that a module of the stand-ins defines."""
    text = (DRIVER / f"{name}.mojo").read_text()
    found = re.findall(r"^comptime (\w+) = U?Int\d+\((\w+)\)$", text, re.MULTILINE)
    return {name: int(number, 0) for name, number in found}


def test_kinds_of_copies_have_their_numbers() -> None:
    kinds = ("HOST_TO_HOST", "HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE")
    known = {f"_{kind}": getattr(hip, f"hipMemcpy{kind.title().replace('_', '')}") for kind in kinds}
    assert constants("hip_memory").items() >= known.items()


def test_attributes_of_agents_have_their_numbers() -> None:
    assert (
        constants("hsa").items()
        >= {
            "_INVALID_ARGUMENT": hsa.HSA_STATUS_ERROR_INVALID_ARGUMENT,
            "_ERROR": hsa.HSA_STATUS_ERROR,
            "_NAME": hsa.HSA_AGENT_INFO_NAME,
            "_DEVICE_TYPE": hsa.HSA_AGENT_INFO_DEVICE,
            "_BUS_DEVICE_FUNCTION": hsa.HSA_AMD_AGENT_INFO_BDFID,
            "_DOMAIN": hsa.HSA_AMD_AGENT_INFO_DOMAIN,
            "_GPU": hsa.HSA_DEVICE_TYPE_GPU,
            "_ISA_NAME_LENGTH": hsa.HSA_ISA_INFO_NAME_LENGTH,
            "_ISA_NAME": hsa.HSA_ISA_INFO_NAME,
        }.items()
    )


def test_errors_have_their_numbers() -> None:
    text = (DRIVER / "hip_device.mojo").read_text()
    named = re.findall(r'code == (\d+):\n\s*return "(hip\w+)"', text)
    assert len(named) > 10
    for number, name in named:
        assert getattr(hip, name) == int(number), name
