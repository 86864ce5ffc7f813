"""Protocol numbers. Written by `python -m tooling.simulator.server.protocol`; do not edit."""

comptime VERSION = UInt32(7)
comptime MAGIC = UInt64(0x5550474C5A5A5550)
comptime MAX_PAYLOAD = 67108864
comptime ARENA_BYTES = UInt64(0x1000000000)
comptime ARENA_BASE = UInt64(0x200000000000)
comptime GRANULARITY = UInt64(0x200000)
comptime DEVICE_SHIFT = UInt64(56)
comptime NON_BLOCKING = UInt32(1)
comptime OF_GRAPH = UInt32(2)
comptime REQUEST_HEADER_BYTES = 8
comptime REPLY_HEADER_BYTES = 12
comptime DEVICE = UInt32(0)
comptime PINNED = UInt32(1)
comptime CREATE_STREAM = UInt32(0)
comptime RECORD_EVENT = UInt32(1)
comptime STREAM_WAITS = UInt32(2)
comptime WAIT_FOR_STREAM = UInt32(3)
comptime WAIT_FOR_EVENT = UInt32(4)
comptime QUERY_EVENT = UInt32(5)
comptime TO_DEVICE = UInt32(0)
comptime TO_HOST = UInt32(1)
comptime ON_DEVICE = UInt32(2)

# magic, version, process, arena base -> version, process, descriptor, attributes, memory, code of the program from, to, whether the order of host and GPU is checked, devices (reply: (attribute u32, value i32) pairs, then the device's name)
comptime HELLO = UInt32(1)
comptime HELLO_REQUEST_BYTES = 24
comptime HELLO_REPLY_BYTES = 48

# bytes, MemoryKind -> address
comptime ALLOCATE = UInt32(2)
comptime ALLOCATE_REQUEST_BYTES = 12
comptime ALLOCATE_REPLY_BYTES = 8

# address, MemoryKind ->
comptime FREE = UInt32(3)
comptime FREE_REQUEST_BYTES = 12
comptime FREE_REPLY_BYTES = 0

# address -> base, bytes, serial, MemoryKind, device
comptime RANGE = UInt32(4)
comptime RANGE_REQUEST_BYTES = 8
comptime RANGE_REPLY_BYTES = 32

# address, bytes of a row, rows, bytes from row to row ->
comptime WRITE = UInt32(5)
comptime WRITE_REQUEST_BYTES = 32
comptime WRITE_REPLY_BYTES = 0

# address, bytes ->
comptime READ = UInt32(6)
comptime READ_REQUEST_BYTES = 16
comptime READ_REPLY_BYTES = 0

# destination, source, bytes ->
comptime COPY = UInt32(7)
comptime COPY_REQUEST_BYTES = 24
comptime COPY_REPLY_BYTES = 0

# -> module (PTX text; a failed load replies the log's text)
comptime LOAD_MODULE = UInt32(8)
comptime LOAD_MODULE_REQUEST_BYTES = 0
comptime LOAD_MODULE_REPLY_BYTES = 8

# module ->
comptime UNLOAD_MODULE = UInt32(9)
comptime UNLOAD_MODULE_REQUEST_BYTES = 8
comptime UNLOAD_MODULE_REPLY_BYTES = 0

# module -> function, parameters, CUfunction_attribute 0 to 15 (kernel's name; reply: (offset u32, bytes u32) of each parameter)
comptime FUNCTION = UInt32(10)
comptime FUNCTION_REQUEST_BYTES = 8
comptime FUNCTION_REPLY_BYTES = 76

# module -> address, bytes (variable's name)
comptime GLOBAL = UInt32(11)
comptime GLOBAL_REQUEST_BYTES = 8
comptime GLOBAL_REPLY_BYTES = 16

# function, CUfunction_attribute, value ->
comptime SET_ATTRIBUTE = UInt32(12)
comptime SET_ATTRIBUTE_REQUEST_BYTES = 16
comptime SET_ATTRIBUTE_REPLY_BYTES = 0

# function, grid, block, cluster, cluster given, dynamic shared bytes, stream -> (parameter bytes; a refused launch replies the reason, others (address u64, bytes u64, access u32) of the pinned memory that the host must wait for)
comptime LAUNCH = UInt32(13)
comptime LAUNCH_REQUEST_BYTES = 60
comptime LAUNCH_REPLY_BYTES = 0

# ->
comptime SYNCHRONISE = UInt32(14)
comptime SYNCHRONISE_REQUEST_BYTES = 0
comptime SYNCHRONISE_REPLY_BYTES = 0

# function, threads of a block, dynamic shared bytes -> blocks
comptime OCCUPANCY = UInt32(15)
comptime OCCUPANCY_REQUEST_BYTES = 20
comptime OCCUPANCY_REPLY_BYTES = 4

# -> free bytes, all bytes
comptime MEMORY_INFO = UInt32(16)
comptime MEMORY_INFO_REQUEST_BYTES = 0
comptime MEMORY_INFO_REPLY_BYTES = 16

# bytes, alignment -> address
comptime RESERVE = UInt32(17)
comptime RESERVE_REQUEST_BYTES = 16
comptime RESERVE_REPLY_BYTES = 8

# address, bytes ->
comptime UNRESERVE = UInt32(18)
comptime UNRESERVE_REQUEST_BYTES = 16
comptime UNRESERVE_REPLY_BYTES = 0

# bytes -> memory
comptime CREATE = UInt32(19)
comptime CREATE_REQUEST_BYTES = 8
comptime CREATE_REPLY_BYTES = 8

# memory ->
comptime RELEASE = UInt32(20)
comptime RELEASE_REQUEST_BYTES = 8
comptime RELEASE_REPLY_BYTES = 0

# address -> memory
comptime RETAIN = UInt32(21)
comptime RETAIN_REQUEST_BYTES = 8
comptime RETAIN_REPLY_BYTES = 8

# address, bytes, memory -> offset in the arena's file
comptime MAP = UInt32(22)
comptime MAP_REQUEST_BYTES = 24
comptime MAP_REPLY_BYTES = 8

# address, bytes ->
comptime UNMAP = UInt32(23)
comptime UNMAP_REQUEST_BYTES = 16
comptime UNMAP_REPLY_BYTES = 0

# address, bytes, MemoryAccess ->
comptime SET_ACCESS = UInt32(24)
comptime SET_ACCESS_REQUEST_BYTES = 20
comptime SET_ACCESS_REPLY_BYTES = 0

# address -> MemoryAccess
comptime ACCESS = UInt32(25)
comptime ACCESS_REQUEST_BYTES = 8
comptime ACCESS_REPLY_BYTES = 4

# stream, the call waits, host address or 0, callers: of the next request ->
comptime CALL = UInt32(26)
comptime CALL_REQUEST_BYTES = 52
comptime CALL_REPLY_BYTES = 0

# OrderAction, stream, event -> (reply: (address u64, bytes u64) of finished copies' memory)
comptime ORDER = UInt32(27)
comptime ORDER_REQUEST_BYTES = 20
comptime ORDER_REPLY_BYTES = 0

# address, callers: the host accessed memory that enqueued work uses ->
comptime TOUCH = UInt32(28)
comptime TOUCH_REQUEST_BYTES = 40
comptime TOUCH_REPLY_BYTES = 0

# address, written, callers: the host accessed device memory ->
comptime DEVICE_ACCESS = UInt32(29)
comptime DEVICE_ACCESS_REQUEST_BYTES = 44
comptime DEVICE_ACCESS_REPLY_BYTES = 0

# device: of the modules and memory of the next requests ->
comptime SELECT_DEVICE = UInt32(30)
comptime SELECT_DEVICE_REQUEST_BYTES = 4
comptime SELECT_DEVICE_REPLY_BYTES = 0

# peer: kernels of the selected device may access its memory ->
comptime ENABLE_PEER = UInt32(31)
comptime ENABLE_PEER_REQUEST_BYTES = 4
comptime ENABLE_PEER_REPLY_BYTES = 0

# address -> (the bytes to write there)
comptime UPLOAD = UInt32(32)
comptime UPLOAD_REQUEST_BYTES = 8
comptime UPLOAD_REPLY_BYTES = 0

# address, value, bytes of an element, elements of a row, rows, bytes from row to row ->
comptime FILL = UInt32(33)
comptime FILL_REQUEST_BYTES = 44
comptime FILL_REPLY_BYTES = 0

# destination, source, bytes, CopyKind ->
comptime MOVE = UInt32(34)
comptime MOVE_REQUEST_BYTES = 28
comptime MOVE_REPLY_BYTES = 0
