--- Hashes the bytecode of Lua functions, to tell one function from another across processes. Line
-- numbers are left out, so a function that has moved within its file has the hash that it had; so
-- are the values that it has captured.

local core = require "ladies_core"

local code = {}

-- The length in bytes of the header of a dump of Lua 5.4 (string.dump), which holds the signature,
-- sizes and the number of upvalues.
local HEADER = 32
local INSTRUCTION, UPVALUE, NUMBER = 4, 3, 8       -- bytes
local SIZE_OF_CONSTANT = {[0x03] = NUMBER, [0x13] = NUMBER}     -- an integer, a float
local IS_STRING = {[0x04] = true, [0x14] = true}                -- short, long

-- Reads the number at the place `at` of a dump, written with seven bits in each byte, the last of
-- which has its high bit set; returns the number and the place after it.
local function read_size(dump, at)
  local size = 0
  while true do
    local byte = dump:byte(at)
    size, at = size << 7 | byte & 0x7f, at + 1
    if byte & 0x80 ~= 0 then return size, at end
  end
end

-- Skips the constant at the place `at` of a dump; returns the place after it.
local function after_constant(dump, at)
  local kind = dump:byte(at)
  if not IS_STRING[kind] then return at + 1 + (SIZE_OF_CONSTANT[kind] or 0) end
  local size, first = read_size(dump, at + 1)
  return first + size - 1
end

-- Adds the bytes of the function at the place `at` of a dump, without its line numbers, to the list
-- `parts`; returns the place after it.
local function add(dump, at, parts)
  local first = select(2, read_size(dump, at + 1))  -- after the file, which is stripped, and the
  first = select(2, read_size(dump, first))         -- first and last line
  local n
  n, at = read_size(dump, first + 3)                -- after numbers of parameters and registers
  n, at = read_size(dump, at + n * INSTRUCTION)
  for _ = 1, n do at = after_constant(dump, at) end
  n, at = read_size(dump, at)
  n, at = read_size(dump, at + n * UPVALUE)
  parts[#parts + 1] = dump:sub(first, at - 1)
  for _ = 1, n do at = add(dump, at, parts) end
  return at + 4                                     -- no lines, locals and names of upvalues
end

local function hash(text)
  local bytes = {}
  for i = 1, #text do bytes[i] = text:byte(i) end
  return core.index(bytes):hash()
end

--- Returns the hash of the code of a function or of an object's __call, 16 hexadecimal digits; "in
-- C" for a function that is not written in Lua.
function code.hash(callable)
  if type(callable) ~= "function" then
    return code.hash(debug.getmetatable(callable).__call)
  elseif debug.getinfo(callable, "S").what == "C" then
    return "in C"
  end
  local parts = {}
  add(string.dump(callable, true), HEADER + 1, parts)
  return hash(table.concat(parts))
end

return code
