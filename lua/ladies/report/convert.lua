--- Converts SVG pictures to PNG, PDF or sixels (for terminals), by the programs of librsvg and
-- libsixel where they are installed.

local core = require "ladies_core"

local convert = {}

local SHARP = 2                                 -- pixels of a PNG for one of the picture, each way

--- Tells whether librsvg's program is installed, without which there is neither PNG nor PDF.
function convert.available() return core.process.exists "rsvg-convert" end

-- Makes a temporary file, which is removed when the <close> variable that holds it goes out of
-- scope.
local function temporary(content)
  local path = os.tmpname()
  if content then core.file.write(path, content) end
  return setmetatable({path = path}, {__close = function() os.remove(path) end})
end

-- Runs a converter with the options `words` on `content` and returns its output, or nil and why it
-- failed. It reads and writes temporary files, so that names that the user chose never reach its
-- command line.
local function made_by(program, words, content)
  if not core.process.exists(program) then return nil, program .. " is not installed" end
  local given <close> = temporary(content)
  local made <close> = temporary()
  local log <close> = temporary()
  local argv = {program, table.unpack(words)}
  table.move({"--output", made.path, given.path}, 1, 3, #argv + 1, argv)
  local process <close> = core.process.start(argv, {log = log.path})
  if process:wait() == 0 then return core.file.read(made.path) end
  return nil, ("%s: %s"):format(program, core.file.read(log.path))
end

--- convert.png(svg) -> string | nil [, string]: the picture as a PNG of twice as many pixels each
-- way, so that it is sharp on paper; or nil and the reason why not.
function convert.png(svg)
  return made_by("rsvg-convert", {"--format", "png", "--zoom", tostring(SHARP)}, svg)
end

--- convert.pdf(svg) -> string | nil [, string]: the picture as a page of PDF, whose texts are text.
function convert.pdf(svg) return made_by("rsvg-convert", {"--format", "pdf"}, svg) end

--- convert.sixels(svg) -> string | nil [, string]: the picture as sixels for a terminal.
function convert.sixels(svg)
  local png, complaint = made_by("rsvg-convert", {"--format", "png"}, svg)
  if not png then return nil, complaint end
  return made_by("img2sixel", {}, png)
end

return convert
