"""The functions of the HSA runtime from which Mojo learns the architecture (HSA Runtime API 1.2, sections 2.1 to 2.3).
"""

from errors import SUCCESS
from hip_device import connected
from session import Locked
from wire import NULL, at, put_bytes

comptime _AGENT = UInt64(1)
comptime _ISA = UInt64(1)
comptime _INVALID_ARGUMENT = Int32(0x1001)
comptime _ERROR = Int32(0x1000)

# hsa_agent_info_t, and AMD's extensions of it.
comptime _NAME = Int32(0)
comptime _DEVICE_TYPE = Int32(17)
comptime _BUS_DEVICE_FUNCTION = Int32(0xA006)
comptime _DOMAIN = Int32(0xA00F)
comptime _GPU = UInt32(1)

# hsa_isa_info_t
comptime _ISA_NAME_LENGTH = Int32(0)
comptime _ISA_NAME = Int32(1)

comptime _INSTRUCTION_SET = UInt32(0xFFFF)
"""The attribute under which the simulator reports the number of the architecture: 942 for gfx942."""


@export("hsa_init")
def hsa_init() abi("C") -> Int32:
    """The hsa_init of the runtime: connects to the simulator."""
    return SUCCESS if connected() == SUCCESS else _ERROR


@export("hsa_shut_down")
def hsa_shut_down() abi("C") -> Int32:
    """The hsa_shut_down of the runtime."""
    return SUCCESS


@export("hsa_iterate_agents")
def hsa_iterate_agents(
    callback: def(UInt64, UInt64) thin abi("C") -> Int32, data: UInt64
) abi("C") -> Int32:
    """The hsa_iterate_agents of the runtime: one agent, the GPU."""
    return callback(_AGENT, data)


@export("hsa_agent_get_info")
def hsa_agent_get_info(
    agent: UInt64, attribute: Int32, value: UInt64
) abi("C") -> Int32:
    """The hsa_agent_get_info of the runtime: name, type and PCI address."""
    if value == NULL or agent != _AGENT:
        return _INVALID_ARGUMENT
    if attribute == _NAME:
        var name = _target_id()
        put_bytes(value, name, len(name))
        at[UInt8](value + UInt64(len(name)))[] = 0
    elif attribute == _DEVICE_TYPE:
        at[UInt32](value)[] = _GPU
    elif attribute == _BUS_DEVICE_FUNCTION or attribute == _DOMAIN:
        at[UInt32](value)[] = 0
    else:
        return _INVALID_ARGUMENT
    return SUCCESS


@export("hsa_agent_iterate_isas")
def hsa_agent_iterate_isas(
    agent: UInt64,
    callback: def(UInt64, UInt64) thin abi("C") -> Int32,
    data: UInt64,
) abi("C") -> Int32:
    """The hsa_agent_iterate_isas of the runtime: one instruction set."""
    return _INVALID_ARGUMENT if agent != _AGENT else callback(_ISA, data)


@export("hsa_isa_get_info_alt")
def hsa_isa_get_info_alt(
    isa: UInt64, attribute: Int32, value: UInt64
) abi("C") -> Int32:
    """The hsa_isa_get_info_alt of the runtime: the target's name and its length.
    """
    if value == NULL or isa != _ISA:
        return _INVALID_ARGUMENT
    var name = _triple()
    if attribute == _ISA_NAME_LENGTH:
        at[UInt32](value)[] = UInt32(len(name) + 1)
    elif attribute == _ISA_NAME:
        put_bytes(value, name, len(name))
        at[UInt8](value + UInt64(len(name)))[] = 0
    else:
        return _INVALID_ARGUMENT
    return SUCCESS


def _target_id() -> List[UInt8]:
    """`gfx942`."""
    with Locked() as session:
        var number = session[].attributes.get(_INSTRUCTION_SET).or_else(0)
        return List[UInt8](String("gfx", number).as_bytes())


def _triple() -> List[UInt8]:
    """`amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`."""
    var name = String("amdgcn-amd-amdhsa--")
    with Locked() as session:
        var number = session[].attributes.get(_INSTRUCTION_SET).or_else(0)
        name += String("gfx", number)
        if number == 942:
            name += ":sramecc+:xnack-"
    return List[UInt8](name.as_bytes())
