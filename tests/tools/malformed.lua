--- Makes .npy and .zip files by hand, so that any field of them can lie, and spoils whole ones.

local malformed = {}

--- The CRC-32 of a text, bit by bit.
function malformed.crc32(text)
  local crc = 0xFFFFFFFF
  for i = 1, #text do
    crc = crc ~ text:byte(i)
    for _ = 1, 8 do crc = crc >> 1 ~ (crc & 1) * 0xEDB88320 end
  end
  return ~crc & 0xFFFFFFFF
end

--- A deflate stream of the text in blocks that are not compressed.
function malformed.deflate(text)
  local blocks = {}
  for first = 1, math.max(#text, 1), 0xFFFF do
    local piece = text:sub(first, first + 0xFFFE)
    local last = first + 0xFFFF > #text and 1 or 0
    blocks[#blocks + 1] = ("<I1I2I2"):pack(last, #piece, ~#piece & 0xFFFF) .. piece
  end
  return table.concat(blocks)
end

--- A gzip file of the text.
function malformed.gzip(text)
  return "\x1f\x8b\x08\0\0\0\0\0\0\3" .. malformed.deflate(text)
    .. ("<I4I4"):pack(malformed.crc32(text), #text)
end

--- An .npy file with a header of any text.
function malformed.npy(header, data, version)
  local length = (version or 1) == 1 and "<s2" or "<s4"
  return "\x93NUMPY" .. string.char(version or 1, 0) .. length:pack(header) .. (data or "")
end

--- The usual header for a type and a shape.
function malformed.header(descr, shape)
  return ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n"):format(descr, shape)
end

local SATURATED = 0xFFFFFFFF

--- A zip archive of the array of members {name=, data=}. A member may state anything that is not
-- so: method (0 stored, the default, or 8), packed (its bytes in the archive), size, packed_size,
-- crc, flags, header (position), extra, mode (as Unix has it); `near` holds what only its local
-- header states, and zip64 = true puts the numbers into zip64 fields. `ending` may state count,
-- size, position (of the directory), comment, zip64 = true or "beside": the end record then has the
-- numbers as well, as Python writes archives of 2 to 4 GiB.
function malformed.zip(members, ending)
  ending = ending or {}
  local parts, directory, position = {}, {}, 0
  for _, member in ipairs(members) do
    local method = member.method or 0
    local packed = member.packed or (method == 8 and malformed.deflate or tostring)(member.data)
    local far = {
      name = member.name, method = method, flags = member.flags or 0,
      crc = member.crc or malformed.crc32(member.data), size = member.size or #member.data,
      packed_size = member.packed_size or #packed, header = member.header or position,
    }
    local near = setmetatable(member.near or {}, {__index = far})
    local extra = member.extra or ""
    local near_extra, far_extra = extra, extra
    if member.zip64 then
      near_extra = ("<I2I2I8I8"):pack(1, 16, near.size, near.packed_size)
      far_extra = ("<I2I2I8I8I8"):pack(1, 24, far.size, far.packed_size, far.header)
    end
    local function number(value) return member.zip64 and SATURATED or value end
    parts[#parts + 1] = ("<I4I2I2I2I4I4I4I4I2I2"):pack(0x04034B50, 45, near.flags, near.method, 0,
      near.crc, number(near.packed_size), number(near.size), #near.name, #near_extra)
      .. near.name .. near_extra .. packed
    position = position + #parts[#parts]
    directory[#directory + 1] = ("<I4I2I2I2I2I4I4I4I4I2I2I2I2I2I4I4"):pack(0x02014B50,
      member.mode and 0x032D or 45, 45, far.flags, far.method, 0, far.crc, number(far.packed_size),
      number(far.size), #far.name, #far_extra, 0, 0, 0, (member.mode or 0) << 16,
      number(far.header)) .. far.name .. far_extra
  end
  local entries = table.concat(directory)
  local count, size = ending.count or #members, ending.size or #entries
  local start, comment = ending.position or position, ending.comment or ""
  local tail = ""
  if ending.zip64 then
    tail = ("<I4I8I2I2I4I4I8I8I8I8"):pack(0x06064B50, 44, 45, 45, 0, 0, count, count, size, start)
      .. ("<I4I4I8I4"):pack(0x07064B50, 0, position + #entries, 1)
    if ending.zip64 ~= "beside" then count, size, start = 0xFFFF, SATURATED, SATURATED end
  end
  tail = tail .. ("<I4I2I2I2I2I4I4s2"):pack(0x06054B50, 0, 0, count, count, size, start, comment)
  return table.concat(parts) .. entries .. tail
end

--- Iterates over the text cut off before each of its bytes: length, shortened text.
function malformed.truncated(text)
  return coroutine.wrap(function()
    for length = 0, #text - 1 do coroutine.yield(length, text:sub(1, length)) end
  end)
end

--- Iterates over the text with one byte changed: position, changed text. A byte is changed in all
-- of its bits at once and in each of them, or, `sparsely`, in one of them, another one for the next
-- byte.
function malformed.flipped(text, sparsely)
  return coroutine.wrap(function()
    for position = 1, #text do
      local byte = text:byte(position)
      local masks = sparsely and {1 << position % 8, 255} or {1, 2, 4, 8, 16, 32, 64, 128, 255}
      for _, mask in ipairs(masks) do
        local changed = string.char(byte ~ mask)
        coroutine.yield(position, text:sub(1, position - 1) .. changed .. text:sub(position + 1))
      end
    end
  end)
end

return malformed
