--- Shows the progress of a long loop on stderr: on a terminal as one line that is redrawn,
-- otherwise as a plain line every few seconds.

local core = require "ladies_core"
local options = require "ladies.base.options"

local host = package.loaded.ladies_host

local progress = {}

local REDRAW = 0.1   -- seconds between two drawings of the bar, at least
local PLAIN = 5      -- seconds between two plain lines
local BAR = 24       -- characters
local CLEAR = "\r\27[K"

-- The function that gets displays instead of stderr; nil where stderr gets them.
local draw

--- progress.draw_with(f): from now on displays are given to f(text) as they would be written on a
-- terminal, where nothing else is asked for; with nil they go to stderr again.
function progress.draw_with(f)
  draw = options.value("progress.draw_with", "f", f, "callable or nil")
end

local function write(text)
  if draw then return draw(text) end
  io.stderr:write(text)
  io.stderr:flush()
end

local function is_terminal() return draw ~= nil or core.isatty(2) end

local Progress = {__name = "Progress"}
Progress.__index = Progress

--- Formats seconds as minutes and seconds, "3:07", or with hours, "1:02:03".
function progress.duration(seconds)
  seconds = math.floor(seconds + 0.5)
  local hours, minutes = seconds // 3600, seconds // 60 % 60
  if hours > 0 then return ("%d:%02d:%02d"):format(hours, minutes, seconds % 60) end
  return ("%d:%02d"):format(minutes, seconds % 60)
end

--- ladies.progress{total =, done = 0, unit = "batch"} -> table: a progress display on stderr, for a
-- loop: bar:update(done, now, loss, value) at every turn, `now` being what timer:stop() of a
-- ladies.timer returns, and bar:clear() at the end.
-- total     how many there will be at most, or nil when nobody knows
-- bound     whether `total` is only a bound, which the loop may end well before
-- limit     seconds after which the loop ends at the latest
-- done      how many were done before (a resumed run)
-- quiet     show nothing
-- measure   the name of the value that update is given
-- delay     seconds before anything is shown; what is over by then never is
-- terminal, width, write, clock   for tests: whether to draw a bar, in how many columns, where the
-- text goes, the time in seconds
function progress.new(given)
  local opts = options.check("ladies.progress", given, {
    total = "positive integer or nil",
    bound = {"boolean", false},
    limit = "number or nil",
    done = {"non-negative integer", 0},
    unit = {"string", "batch"},
    quiet = {"boolean", false},
    measure = {"string", "micro-F1"},
    delay = {"non-negative number", 0},
    terminal = "boolean or nil",
    width = "positive integer or nil",
    write = {"callable", write},
    clock = {"callable", core.clock},
  })
  opts.unit, opts.measure = core.printable(opts.unit), core.printable(opts.measure)
  if opts.terminal == nil then
    opts.terminal = is_terminal()
    opts.width = opts.width or not draw and host and host.width() or nil
  end
  opts.first, opts.began = opts.done, opts.clock()
  opts.wait = opts.terminal and REDRAW or PLAIN
  opts.due = opts.quiet and math.huge or opts.began + math.max(opts.wait, opts.delay)
  return setmetatable(opts, Progress)
end

-- Makes the text of the line, "batch 340/2000 [==== ], 71.2/s, 0:23 left, " and the notes, with a
-- bar of `length` characters.
local function text_of(self, now, length)
  local elapsed = now - self.began
  local rate = elapsed > 0 and (self.done - self.first) / elapsed or 0
  local parts = {}
  if self.total then
    local share = math.min(1, self.done / self.total)
    parts[1] = ("%s %d/%d"):format(self.unit, self.done, self.total)
    if self.terminal then
      local filled = math.floor(share * length)
      parts[1] = ("%s [%s%s]"):format(parts[1], ("="):rep(filled), (" "):rep(length - filled))
    end
  else
    parts[1] = ("%s %d"):format(self.unit, self.done)
  end
  parts[2] = (rate < 10 and "%.2f/s" or "%.0f/s"):format(rate)
  local left = self.ends and math.max(0, self.ends - now)
    or self.total and rate > 0 and (self.total - self.done) / rate
  if left and self.limit then left = math.min(left, math.max(0, self.limit - elapsed)) end
  if left then
    parts[3] = (self.bound and "stops early or in %s" or "%s left"):format(progress.duration(left))
  end
  parts[#parts + 1] = self.loss and ("loss %.4f"):format(self.loss)
  parts[#parts + 1] = self.value and ("val %s %.4f"):format(self.measure, self.value)
  return table.concat(parts, ", ")
end

-- Returns the text of the line, made to fit the terminal by a shorter bar and then by cutting it
-- off, since a part that went on in a second line would not be wiped.
local function fitted(self, now)
  local text, room = text_of(self, now, BAR), (self.width or math.huge) - 1
  local length = utf8.len(text)
  if length <= room then return text end
  text = text_of(self, now, math.max(0, BAR - (length - room)))
  return text:sub(1, (utf8.offset(text, room + 1) or #text + 1) - 1)
end

--- Reports that `done` steps of the loop are done at time `now` (seconds of the same clock), with
-- the latest loss and validation value (or nil). Cheap unless it is time to draw.
function Progress:update(done, now, loss, value)
  options.value("bar:update", "done", done, "number")
  options.value("bar:update", "the time", now, "number")
  if type(loss or 0) ~= "number" then options.value("bar:update", "the loss", loss, "number") end
  if type(value or 0) ~= "number" then options.value("bar:update", "the value", value, "number") end
  self.done, self.loss, self.value = done, loss, value
  if now < self.due then return end
  self.due = now + self.wait
  if self.terminal then
    local text = fitted(self, now)
    if text ~= self.drawn then self.write(CLEAR .. text) end
    self.drawn = text
  else
    self.write(text_of(self, now, BAR) .. "\n")
  end
end

--- Sets the time, on the same clock, at which the loop will end, for loops that know it better than
-- their mean rate tells.
function Progress:expect(ends)
  options.value("bar:expect", "the time", ends, "number or nil")
  self.ends = ends
end

--- Wipes the bar, and the picture above it, so that other output can follow.
function Progress:clear()
  if self.lines then
    self.write(("\r\27[%dA\27[J"):format(self.lines))
  elseif self.drawn then
    self.write(CLEAR)
  end
  self.drawn, self.lines = nil, nil
end

--- Shows a text of several lines above the bar, in the place of the one before; only on a terminal.
function Progress:picture(text)
  options.value("bar:picture", "the text", text, "string")
  if self.quiet or not self.terminal then return end
  self:clear()
  self.write(text .. "\n")
  self.lines = select(2, text:gsub("\n", "")) + 1
end

--- Writes a line that stays, above the bar.
function Progress:line(text)
  options.value("bar:line", "the text", text, "string")
  if self.quiet then return end
  self:clear()
  self.write(core.printable(text) .. "\n")
end

--- progress.reading(path [, {quiet = false, terminal =, write =, clock =}]) -> report, finish
-- Makes the progress bar of a reader of files, which counts the MiB read of the file (of a packed
-- file the packed ones). Returns the function that reports them and the one that wipes the bar in
-- the end. The bar is shown if the reading takes more than a second and stderr is a terminal.
function progress.reading(path, given)
  local opts = options.check("ladies.progress", given, {
    quiet = {"boolean", false}, terminal = "boolean or nil", write = "callable or nil",
    clock = "callable or nil",
  })
  local clock = opts.clock or core.clock
  if opts.terminal == nil then opts.terminal = is_terminal() end
  local bar = progress.new{unit = path:match "[^/]*$" .. ": MiB", delay = 1,
    quiet = opts.quiet or not opts.terminal, terminal = opts.terminal, write = opts.write,
    clock = clock}
  local function report(done, total)
    bar.total = math.max(1, total >> 20)
    bar:update(done >> 20, clock())
  end
  return report, function() bar:clear() end
end

return progress
