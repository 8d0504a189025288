--- Processes that are struck at random moments, and what must hold afterwards: they end, within a
-- stated patience; nobody that they have started lives on; they say at most some lines, none of
-- them a traceback; and nothing that was there is lost.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local files = require "tools.files"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local strikes = require "tools.storm.strikes"

local blows = {}

--- Seconds within which a process ends that was asked to, and one that nobody disturbs; and those
-- that it has started, after it.
blows.PATIENCE, blows.GRACE = 120, 10

-- Seconds by which ranks may end later than they are told to wait for others.
local SLACK = 15

-- Lines of complaints, at most: of one process, and of ranks, of which mpirun has some to say.
local MOST_LINES, MOST_OF_RANKS = 3, 12

local MARKED = [[
  for p in $(grep -lsaF "$0" /proc/[0-9]*/environ); do
    grep -qs '^State:.[^ZX]' ${p%environ}status && echo ${p%environ}
  done]]

-- The processes whose environment has the mark, but for those that have ended, and the shell's own.
local function marked(mark)
  return (shell.run{"sh", "-c", MARKED, mark})
end

-- Tells whether all processes with the mark are gone; some may take a moment.
local function all_gone(mark)
  local until_then = core.clock() + blows.GRACE
  while marked(mark) ~= "" do
    if core.clock() > until_then then return false end
    core.process.start{"sleep", "0.05"}:wait()
  end
  return true
end

-- The folder that a command writes into, and the one of its temporary files, on a disk of theirs.
local function out_of(place) return place .. "/disk/out" end
local function temporary_of(place) return place .. "/disk/tmp" end

-- Starts the words with a file for what they print and one for complaints; SIGINT is heeded even if
-- the storm was started as a background job, which is deaf to it. Returns the process and its
-- number.
local function start(case, place, words, n_ranks, mark, env)
  local argv = {"env", "--default-signal=INT", mark, "TMPDIR=" .. temporary_of(place)}
  for _, list in ipairs{n_ranks > 0 and ranks.environment or {}, env or {},
      case.env and case.env(out_of(place)) or {},
      {"sh", "-c", 'echo $$ >"$0"; exec "$@" 2>"$0.err"', place .. "/pid"},
      n_ranks > 0 and {"mpirun", "--quiet", "-n", tostring(n_ranks)} or {}, {shell.ladies},
      words} do
    table.move(list, 1, #list, #argv + 1, argv)
  end
  os.remove(place .. "/pid")
  local process = core.process.start(argv, {log = place .. "/printed"})
  for _ = 1, 1000 do
    local pid = core.exists(place .. "/pid") and files.read(place .. "/pid"):match "%d+"
    if pid then return process, pid end
    process:wait(0.01)
  end
  error "the process does not begin"
end

local function complaints(place)
  return core.exists(place .. "/pid.err") and files.read(place .. "/pid.err") or ""
end

local function fail(what, words, place)
  error(("%s\n  %s\n  %s"):format(what, table.concat(words, " "),
    (complaints(place):gsub("\n", "\n  "))), 0)
end

-- Runs a case to its end, undisturbed, the n-th attempt. Returns its seconds.
local function finish(case, place, rng, n, mark)
  local began = core.clock()
  local words, n_ranks = case.words(out_of(place), rng, n)
  local process <close> = start(case, place, words, n_ranks, mark)
  local status = process:wait(blows.PATIENCE)
  if not status then fail("it hangs", words, place) end
  if status ~= 0 then fail("it ends with " .. status, words, place) end
  local seconds = core.clock() - began
  if not all_gone(mark) then fail("processes live on: " .. marked(mark), words, place) end
  return seconds
end

-- Strikes an attempt after so many seconds; one that goes on may be struck again. Returns the last
-- strike and the names of all, or nil when it had ended before.
local function strike(struck, one, seconds)
  local rng = struck.rng
  if struck.process:wait(seconds) then return nil end
  local whom = one.hit(struck)
  local name = whom and ("%s to %s"):format(one.name, whom) or one.name
  if not one.goes_on then return one, name end
  local last, names = strike(struck, strikes.draw(rng, struck.n_ranks, true),
    rng:below(500) / 1000)
  return last or one, ("%s, %s"):format(name, names or "no more")
end

-- Fails unless ranks have said at most one line, and where one was due just that one.
local function check_lines(text, one, n_ranks, status)
  local lines = {}
  for line in text:gmatch "rank %d+ o[fn] [^\n]*" do
    -- Before MPI has begun they do not know of each other, and each waits from its own beginning.
    local of_beginning = line:find "to begin MPI"
    if not (of_beginning and lines[1]) then lines[#lines + 1] = line end
  end
  if #lines > 1 then return "several ranks say why" end
  if status == 0 or not one or not one.says then return nil end
  local said = lines[1] or n_ranks < 2 and text or ""
  if not said:find(one.says) then return "the line that was due is not said" end
end

-- Fails unless a blow has left no process, all lines of files that only grow, and no flood of
-- words.
local function check_after(case, place, words, struck, one, status, before)
  local mark, n_ranks = struck.mark, struck.n_ranks
  if not all_gone(mark) then fail("processes live on: " .. marked(mark), words, place) end
  local text = complaints(place)
  local most = n_ranks > 0 and MOST_OF_RANKS or MOST_LINES
  if text:find "traceback" or select(2, text:gsub("\n", "")) > most then
    fail("too much is said", words, place)
  end
  local what = check_lines(text, one, n_ranks, status)
  if what then fail(("%s, after %s"):format(what, one and one.name or "nothing"), words, place) end
  for name, now in pairs(case.kept(out_of(place))) do
    local old = before[name] or ""
    -- A last line that was being written may go.
    old = old:match "^.*\n" or ""
    if now:sub(1, #old) ~= old then fail(name .. " has lost what was there", words, place) end
  end
end

local LEFT = [[
  find out out-auto '(' -name '*.tmp*' -o -name .ladies.lock -o -name work -o -name '.*.part' \
    -o -name '.*.work*' ')' 2>/dev/null
  find tmp -mindepth 1 -not -path '*ompi*' -not -path '*pmix*']]

-- Lists files in the folders that must not be there when all has ended.
local function left_over(place)
  return (shell.run({"sh", "-c", LEFT}, {folder = place .. "/disk"}))
end

-- Makes the n-th attempt and strikes it at a random moment before so many seconds. Returns what was
-- done, nil where it had ended before.
local function attempt(case, place, rng, n, mark, seconds)
  local words, n_ranks = case.words(out_of(place), rng, n)
  local before, first = case.kept(out_of(place)), strikes.draw(rng, n_ranks)
  local process <close>, pid = start(case, place, words, n_ranks, mark, first.env)
  local struck = {process = process, pid = pid, n_ranks = n_ranks, mark = mark, rng = rng,
    disk = place .. "/disk"}
  local one, name = strike(struck, first, rng:below(1000) / 1600 * seconds)
  local began = core.clock()
  local status = process:wait(one and one.env and strikes.PATIENCE + SLACK or blows.PATIENCE)
  if one and one.undo then one.undo(struck) end
  if not status then fail("it hangs after " .. tostring(name), words, place) end
  local seconds_after = core.clock() - began
  check_after(case, place, words, struck, one, status, before)
  return one and ("%s%s, %.1f s"):format(n_ranks > 0 and n_ranks .. " ranks " or "", name,
    seconds_after)
end

-- Does the work of blows.check on the disk of the place.
local function check(case, place, rng, most)
  local mark, struck = ("LADIES_STORM=%s"):format(place:gsub("[^%w]", "_")), {}
  local calm = place .. "/calm"
  for _, one in ipairs{calm, place} do core.folder.make(temporary_of(one)) end
  local seconds = finish(case, calm, rng, 1, mark)
  local n = 0
  for i = 1, most do
    n = i
    local name = attempt(case, place, rng, n, mark, seconds)
    if not name then break end
    struck[#struck + 1] = name
  end
  finish(case, place, rng, n + 1, mark)
  local expected, found = case.outcome(out_of(calm)), case.outcome(out_of(place))
  if expected ~= found then
    files.write(place .. "/expected", expected)
    files.write(place .. "/found", found)
    error(("it comes to %s/found, undisturbed to expected\n  %s\n  blows: %s"):format(place,
      case.title, table.concat(struck, "; ")), 0)
  end
  local left = left_over(place)
  if left ~= "" then error(("%s\n  left behind: %s"):format(case.title, left), 0) end
  return #struck, table.concat(struck, "; ")
end

--- blows.check(case, place, rng, most) -> integer, string: runs the case once undisturbed and once
-- struck, at most `most` times, in folders below `place`; an error unless it comes to the same.
-- Returns how many blows there were, and which.
function blows.check(case, place, rng, most)
  local disk = strikes.disk(place .. "/disk")
  local ok, n, which = errors.try(check, case, place, rng, most)
  disk:close(not ok)
  if not ok then error(n, 0) end
  return n, which
end

return blows
