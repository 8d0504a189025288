--- The program as the linker left it: what makes mistakes in C hard to use is in it.
local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local shell = require "tools.shell"

local build = shell.ladies:match "^(.*)/bin/[^/]*$"
local TYPE = os.getenv "LADIES_BUILD_TYPE"

-- Numbers of the ELF format.
local SHARED, STACK, RELRO = 3, 0x6474e551, 0x6474e552
local DYNAMIC, FLAGS, BIND_NOW, EXECUTABLE = 2, 30, 8, 1

local tests = {}

-- Reads an ELF file of 64 bits: its kind, segments by type, dynamic entries by tag, and has(text).
local function elf(path)
  local bytes = files.read(path)
  local at = string.unpack("<I8", bytes, 33)
  local size, count = string.unpack("<I2I2", bytes, 55)
  local segments, dynamic = {}, {}
  for i = 0, count - 1 do
    local start = at + i * size + 1
    local type, flags, offset, _, _, length = string.unpack("<I4I4I8I8I8I8", bytes, start)
    segments[type] = {flags = flags, offset = offset, length = length}
  end
  local table = segments[DYNAMIC]
  for i = table.offset, table.offset + table.length - 16, 16 do
    local tag, value = string.unpack("<I8I8", bytes, i + 1)
    dynamic[tag] = value
  end
  return {kind = string.unpack("<I2", bytes, 17), segments = segments, dynamic = dynamic,
    has = function(text) return bytes:find(text, 1, true) ~= nil end}
end

local function each_binary(check)
  local found = 0
  for _, name in ipairs{"bin/ladies", "lib/lua/5.4/ladies_core.so"} do
    local file <close> = assert(io.open(build .. "/" .. name, "rb"))
    if file:read(5) == "\127ELF\2" then
      found = found + 1
      check(elf(build .. "/" .. name), name)
    end
  end
  if found == 0 then lu.skip "these are no ELF files of 64 bits" end
end

function tests.test_addresses_and_pages()
  each_binary(function(binary, name)
    lu.assertEquals(binary.kind, SHARED, name)                          -- at any address
    lu.assertNotNil(binary.segments[RELRO], name)
    lu.assertEquals((binary.dynamic[FLAGS] or 0) & BIND_NOW, BIND_NOW, name)
    lu.assertEquals(binary.segments[STACK].flags & EXECUTABLE, 0, name)
  end)
end

function tests.test_checks_of_the_compiler()
  each_binary(function(binary, name)
    lu.assertTrue(binary.has "__stack_chk_fail", name)
    if TYPE == "Release" and binary.has "GLIBC_2." then
      lu.assertTrue(binary.has "__snprintf_chk", name)
    end
  end)
end

--- The clones of system/simd.h are chosen by what the processor has, which Linux lists.
function tests.test_vector_units()
  local units = core.vector_units()
  lu.assertTableContains({"AVX-512", "AVX2", "SSE2", "NEON", "none"}, units)
  lu.assertStrContains((shell.run{shell.ladies, "-v"}), ", " .. units .. ")")
  local cpuinfo = io.open "/proc/cpuinfo"
  local flags = cpuinfo and cpuinfo:read "a":match "\nflags[^\n]*"
  if cpuinfo then cpuinfo:close() end
  if flags and units:find "^AVX" then
    lu.assertStrContains(flags, units == "AVX2" and " avx2" or " avx512f")
  end
end

return tests
