--- Makes tar archives by hand, so that any field of them can lie.

local tar = {}

--- A header of 512 bytes for {name =, data =}; kind (type), size, magic, prefix, number (the field
-- of the size as it is), sum may state anything.
function tar.header(member)
  local head = member.name:sub(1, 100) .. ("\0"):rep(100 - #member.name)
    .. "0000644\0" .. "0000000\0" .. "0000000\0"
    .. (member.number or ("%011o\0"):format(member.size or #(member.data or "")))
    .. "00000000000\0"
  local rest = (member.kind or "0") .. ("\0"):rep(100) .. (member.magic or "ustar\00000")
    .. ("\0"):rep(80) .. (member.prefix or "")
  rest = rest .. ("\0"):rep(512 - 156 - #rest)
  local sum = 8 * 32
  for i = 1, #head do sum = sum + head:byte(i) end
  for i = 1, #rest do sum = sum + rest:byte(i) end
  return head .. ("%06o\0 "):format(member.sum or sum) .. rest
end

local function padded(data) return data .. ("\0"):rep(-#data % 512) end

--- A record of a pax header.
function tar.record(key, value)
  local rest = (" %s=%s\n"):format(key, value)
  local length = #rest + 1
  while #tostring(length) + #rest ~= length do length = #tostring(length) + #rest end
  return length .. rest
end

--- An archive of the members; ending: what is at its end (two blocks of zeros).
function tar.archive(members, ending)
  local parts = {}
  for i, member in ipairs(members) do
    parts[i] = tar.header(member) .. padded(member.data or "")
  end
  return table.concat(parts) .. (ending or ("\0"):rep(1024))
end

return tar
