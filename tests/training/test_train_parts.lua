--- The parts of the training loop that need no model: early stopping, progress, timing, JSON.
local lu = require "luaunit"
local History = require "ladies.training.record.history"
local early_stopping = require "ladies.training.loop.early_stopping"
local json = require "ladies.base.json"
local progress = require "ladies.base.progress"
local summary = require "ladies.training.record.summary"

local tests = {}

-- ---------------------------------------------------------------- early stopping

-- Feeds values, one every 10 batches; returns the batches after which the model was kept, and the
-- one after which training ends.
local function stopped(opts, values)
  local stopper, kept = early_stopping.new(opts), {}
  for i, value in ipairs(values) do
    if stopper:update(value, 10 * i) then kept[#kept + 1] = 10 * i end
    if stopper:exhausted(10 * i) then return kept, 10 * i, stopper end
  end
  return kept, nil, stopper
end

--- Small rises do not delay the end, but the highest model is kept.
function tests.test_highest()
  local values = {0.30, 0.50, 0.505, 0.508, 0.506, 0.9}
  local kept, last, stopper = stopped({patience = 30, min_gain = 0.01, best = "highest"}, values)
  lu.assertEquals(kept, {10, 20, 30, 40})
  lu.assertEquals(last, 50)                       -- 30 batches after the gain at 20
  lu.assertEquals({stopper:kept()}, {0.508, 40})
end

--- The authors' rule: the model of the last gain is kept.
function tests.test_gain()
  local values = {0.30, 0.50, 0.505, 0.511, 0.512, 0.505, 0.52, 0.9}
  local kept, last, stopper = stopped({patience = 30, min_gain = 0.01, best = "gain"}, values)
  lu.assertEquals(kept, {10, 20, 40})
  lu.assertEquals(last, 70)                       -- 0.52 is less than 0.511 + 0.01
  lu.assertEquals({stopper:kept()}, {0.511, 40})
end

--- A slow rise counts when it adds up to a gain.
function tests.test_slow_rise_adds_up()
  local values = {}
  for i = 1, 20 do values[i] = 0.5 + 0.004 * i end
  local _, last = stopped({patience = 40, min_gain = 0.01}, values)
  lu.assertNil(last)
end

function tests.test_patience_zero_never_ends()
  local _, last = stopped({patience = 0}, {0.5, 0.4, 0.3, 0.2})
  lu.assertNil(last)
end

function tests.test_no_gain_needed()
  local kept, last = stopped({patience = 20, min_gain = 0}, {0.5, 0.5, 0.5, 0.6})
  lu.assertEquals(kept, {10})
  lu.assertEquals(last, 30)
end

function tests.test_state()
  local _, _, stopper = stopped({patience = 30}, {0.3, 0.5})
  local other = early_stopping.new{patience = 30}
  other:load_state(stopper:state())
  lu.assertFalse(other:update(0.499, 50))
  lu.assertTrue(other:exhausted(50))
  lu.assertEquals({other:kept()}, {0.5, 20})
end

-- ---------------------------------------------------------------- progress

-- A progress display whose clock the test sets and whose text it collects.
local function display(opts)
  local screen = {now = 100}
  opts.write = function(text) screen[#screen + 1] = text end
  opts.clock = function() return screen.now end
  return progress.new(opts), screen
end

--- The bar is drawn at most ten times a second, whatever the number of updates.
function tests.test_bar_is_drawn_ten_times_a_second()
  local bar, screen = display{total = 1000, terminal = true}
  for i = 1, 1000 do bar:update(i, 100 + i / 1000, 1.5) end
  lu.assertTrue(#screen >= 8 and #screen <= 10, #screen)
  local last = screen[#screen]
  lu.assertStrContains(last, "\r\27[K")
  lu.assertNotStrContains(last, "\n")
  lu.assertStrContains(last, "1000/s")
  lu.assertStrContains(last, "loss 1.5000")
end

--- A bar that has not changed is not drawn again.
function tests.test_a_bar_that_stands_still()
  local bar, screen = display{total = 40, terminal = true, unit = "cora: MB"}
  for i = 1, 20 do bar:update(0, 100 + i) end
  lu.assertEquals(#screen, 1)
  bar:update(4, 122)
  lu.assertEquals(#screen, 2)
  bar:clear()
  bar:update(4, 122)
  lu.assertEquals({#screen, screen[3]}, {3, "\r\27[K"})       -- not due again yet
end

function tests.test_time_left_and_f1()
  local bar, screen = display{total = 400, terminal = true}
  bar:update(100, 110, 2, 0.5)
  lu.assertStrContains(screen[1], "batch 100/400 [======                  ]")
  lu.assertStrContains(screen[1], "10/s, 0:30 left, loss 2.0000, val micro-F1 0.5000")
end

--- A bar has one line, however narrow the terminal is: the bar is shorter, then the notes are cut.
function tests.test_a_bar_within_the_terminal()
  local function drawn(width)
    local bar, screen = display{total = 400, terminal = true, width = width, measure = "F\u{e9}"}
    bar:update(100, 110, 2, 0.5)
    return screen[1]:sub(#"\r\27[K" + 1)
  end
  local notes = ", 10/s, 0:30 left, loss 2.0000, val F\u{e9} 0.5000"
  lu.assertEquals(drawn(86), "batch 100/400 [======                  ]" .. notes)
  lu.assertEquals(drawn(78), "batch 100/400 [====            ]" .. notes)
  lu.assertEquals(drawn(62), "batch 100/400 []" .. notes)
  lu.assertEquals(drawn(61), "batch 100/400 []" .. notes:sub(1, -2))
  lu.assertEquals(drawn(15), "batch 100/400 ")
end

function tests.test_a_bound_says_so()
  local bar, screen = display{total = 400, bound = true, terminal = true}
  bar:update(100, 110, 2)
  lu.assertStrContains(screen[1], "10/s, stops early or in 0:30")
end

function tests.test_a_limit_of_time()
  local bar, screen = display{total = 400, limit = 15, terminal = true}
  bar:update(100, 110, 2)
  lu.assertStrContains(screen[1], "10/s, 0:05 left")
end

function tests.test_plain_lines()
  local lines, screen = display{total = 100, terminal = false}
  for i = 1, 100 do lines:update(i, 100 + i / 8, 1) end   -- 12.5 seconds
  lu.assertEquals(#screen, 2)
  for _, line in ipairs(screen) do
    lu.assertStrMatches(line, "batch %d+/100, [%d.]+/s, 0:%d%d left, loss 1.0000\n")
    lu.assertNotStrContains(line, "\27")
  end
end

--- A resumed run's rate counts only what it did itself.
function tests.test_resumed()
  local bar, screen = display{total = 100, terminal = true, done = 50}
  bar:update(60, 101, 1)
  lu.assertStrContains(screen[1], "60/100")
  lu.assertStrContains(screen[1], "10/s, 0:04 left")
end

function tests.test_quiet()
  local bar, screen = display{total = 10, terminal = true, quiet = true}
  bar:update(5, 200, 1)
  bar:line "hello"
  bar:clear()
  lu.assertEquals(#screen, 0)
end

--- The bar of a file: nothing in the first second, MiB then, and wiped in the end.
function tests.test_reading()
  local screen = {now = 100}
  local function reading(opts)
    opts.write = function(text) screen[#screen + 1] = text end
    opts.clock = function() return screen.now end
    return progress.reading("data/edges.csv.gz", opts)
  end
  local report, finish = reading{terminal = true}
  report(2^20 // 1, 2^23 // 1)
  screen.now = 100.9
  report(2^21 // 1, 2^23 // 1)
  lu.assertEquals(#screen, 0)
  screen.now = 102
  report(2^22 // 1, 2^23 // 1)
  lu.assertStrContains(screen[1], "edges.csv.gz: MiB 4/8 [============            ]")
  finish()
  lu.assertEquals(screen[2], "\r\27[K")
  for _, opts in ipairs{{terminal = false}, {terminal = true, quiet = true}} do
    report, finish = reading(opts)
    screen.now = screen.now + 60
    report(1, 2)
    finish()
  end
  lu.assertEquals(#screen, 2)
end

function tests.test_duration()
  lu.assertEquals(progress.duration(0), "0:00")
  lu.assertEquals(progress.duration(187.4), "3:07")
  lu.assertEquals(progress.duration(3723), "1:02:03")
end

-- ---------------------------------------------------------------- JSON

function tests.test_json_is_sorted_and_reads_back()
  local value = {b = {1, 2.5, "x\n\"y\""}, a = true, c = {z = 1e-3, y = {}}, d = -7}
  lu.assertEquals(json.encode(value),
    [[{"a":true,"b":[1,2.5,"x\n\"y\""],"c":{"y":{},"z":0.001},"d":-7}]])
  lu.assertEquals(json.decode(json.encode(value)), value)
  lu.assertEquals(json.decode(json.encode(value, "  ")), value)
end

function tests.test_json_numbers()
  for _, x in ipairs{0.1, 1 / 3, 1e300, 2^53, math.pi, -1e-7, 5} do
    lu.assertEquals(json.decode(json.encode{x = x}).x, x)
  end
  lu.assertEquals(json.number(1 / 0), "null")
  lu.assertEquals(json.number(0 / 0), "null")
  lu.assertEquals(math.type(json.decode '{"x": 12}'.x), "integer")
end

function tests.test_json_error_names_the_file()
  lu.assertErrorMsgContains("x.json is not valid JSON", json.decode, "{", "x.json")
end

-- ---------------------------------------------------------------- the paper's memory

--- FastGCN in table 3 of the paper, MiB: within 1 % (F features, s samples, b training nodes).
function tests.test_paper_memory()
  local function mib(features, samples, batch)
    return summary.paper_memory{
      features = features, width = 256, layers = 5, input = samples,
      hidden = 4 * samples + batch,
    } / 2^20
  end
  local table3 = {
    {1433, 64, 140, 3.13}, {1433, 512, 140, 7.33},
    {3703, 64, 120, 5.89}, {3703, 512, 120, 13.97}, {3703, 1024, 120, 23.24},
    {500, 64, 60, 1.92}, {500, 512, 60, 4.53}, {500, 8192, 60, 49.41},
  }
  for _, row in ipairs(table3) do
    lu.assertAlmostEquals(mib(row[1], row[2], row[3]), row[4], 0.01 * row[4])
  end
end

--- A history shows its validations, at most twelve of them, with the first and the last.
function tests.test_history()
  local rows = {}
  for i = 1, 30 do rows[i] = {batch = i, seconds = i / 10, value = i / 100} end
  local function batches(n)
    local found = {}
    local text = History.new(table.move(rows, 1, n, 1, {}), "F1"):__show(80)
    for batch in text:gmatch "\n +(%d+) " do found[#found + 1] = tonumber(batch) end
    return found
  end
  lu.assertEquals(batches(1), {1})
  lu.assertEquals(batches(2), {1, 2})
  lu.assertEquals(batches(30), {1, 3, 6, 8, 11, 14, 16, 19, 22, 24, 27, 30})
end

return tests
