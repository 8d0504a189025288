--- Draws pictures in a terminal that can show them: by kitty's protocol or, with libsixel's
-- img2sixel, as sixels.

local core = require "ladies_core"
local convert = require "ladies.report.convert"

local graphics = {}

local CHUNK = 4096
local DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

-- Patterns for the value of TERM in terminals that can draw pictures, by each protocol.
local KITTY, SIXEL = {"xterm%-kitty", "xterm%-ghostty"}, {"foot", "mlterm", "contour"}

local function begins_with_one(text, list)
  for _, name in ipairs(list) do
    if text:find("^" .. name) then return true end
  end
  return false
end

--- Returns how the terminal of standard output draws pictures: "kitty", "sixel", or nil where it
-- draws none. LADIES_GRAPHICS, one of these words or "none", says it where TERM does not tell.
function graphics.kind()
  if not core.isatty(1) then return nil end
  local said, term = os.getenv "LADIES_GRAPHICS" or "", os.getenv "TERM" or ""
  if said ~= "" then return (said == "kitty" or said == "sixel") and said or nil end
  return begins_with_one(term, KITTY) and "kitty" or begins_with_one(term, SIXEL) and "sixel" or nil
end

--- Encodes bytes in base64.
function graphics.base64(bytes)
  local padding = (3 - #bytes % 3) % 3
  local text = (bytes .. ("\0"):rep(padding)):gsub("...", function(three)
    local a, b, c = three:byte(1, 3)
    local n, digits = a << 16 | b << 8 | c, {}
    for i = 1, 4 do
      local digit = (n >> 24 - 6 * i & 63) + 1
      digits[i] = DIGITS:sub(digit, digit)
    end
    return table.concat(digits)
  end)
  return text:sub(1, #text - padding) .. ("="):rep(padding)
end

-- Encodes a PNG by kitty's protocol, in pieces of which all but the last say that more will follow.
local function kitty(png)
  local text, parts = graphics.base64(png), {}
  for first = 1, #text, CHUNK do
    local more = first + CHUNK <= #text and 1 or 0
    parts[#parts + 1] = ("\27_G%sm=%d;%s\27\\"):format(first == 1 and "a=T,f=100," or "", more,
      text:sub(first, first + CHUNK - 1))
  end
  return table.concat(parts)
end

--- Returns the bytes that make a terminal of this kind draw an SVG picture; nil and why where it
-- cannot be drawn.
function graphics.draw(kind, svg)
  if kind == "sixel" then return convert.sixels(svg) end
  local png, complaint = convert.png(svg)
  return png and kitty(png), complaint
end

return graphics
