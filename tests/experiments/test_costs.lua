--- experiments.paper.costs: memory by the paper's definition, exponents, the report, runs taken up
-- again.
local lu = require "luaunit"
local csv_rows = require "tools.csv_rows"
local ladies = require "ladies"
local paper = require "experiments.paper"
local methods = require "experiments.paper.costs.methods"
local report = require "experiments.paper.costs.report"
local Report = require "ladies.report"
local statistics = require "ladies.statistics"
local temporary = require "reference.temporary"

local tests = {}

local function run(name, own)
  local opts = {methods = {"full", "ladies"}, scale = 0.01, batches = 1,
    out = temporary.path(name), quiet = true}
  for key, value in pairs(own or {}) do opts[key] = value end
  return paper.costs(opts)
end

local function rows_of(result)
  return csv_rows(ladies.file.read(result.folder .. "/costs.csv"))
end

function tests.test_report()
  ladies.threads(2)
  local result = run "report"
  lu.assertEquals(ladies.threads(), 2)
  local read = ladies.file.read
  local path = result.folder .. "/results.jsonl"
  local whole, markdown = read(path), read(result.folder .. "/costs.md")
  for _, rows in ipairs(result.tables) do
    lu.assertStrContains(markdown, "| " .. rows[2][1])
  end
  lu.assertStrContains(tostring(result), markdown:match "\n(| exponent of .-)\n\n")
  for _, text in ipairs{"| full batch, V |", "| LADIES, s ", "| LADIES, b ", "(1 thread)"} do
    lu.assertStrContains(markdown, text)
  end
  ladies.file.write(path, whole:sub(1, #whole - 10))             -- killed while it wrote
  local again = run "report"
  local lines = select(2, whole:gsub("\n", ""))
  lu.assertEquals(select(2, read(path):gsub("\n", "")), lines)
  lu.assertEquals(#rows_of(again), #rows_of(result))

  local held = {}
  for _, row in ipairs(rows_of(result)) do
    lu.assertTrue(row.computing_s > 0 and row.held_bytes > 0)
    if row.method == "ladies" then
      -- Weights, s rows of features, s in each hidden layer and b in the last one, of K columns; a
      -- layer whose neighbourhood is smaller has fewer.
      local most = 4 * (row.L * row.K ^ 2 + row.L * row.K * row.s + row.K * row.b)
      lu.assertTrue(row.counted_bytes <= most)
      if row.variable == "K" then lu.assertEquals(row.counted_bytes, most) end
    elseif row.variable == "V" then
      lu.assertEquals(row.counted_bytes, 4 * (3 * 64 ^ 2 + 4 * row.V * 64))
      held[#held + 1] = {row.V, row.held_bytes}
    end
  end
  local power = statistics.power(held)
  lu.assertTrue(power > 0.5 and power < 1.2, power)
end

-- The report of sweeps {name, variable, time}: of a method whose computing grows as time(shape).
local function report_of(list)
  local sweeps = {}
  for i, one in ipairs(list) do
    local name, variable, time = table.unpack(one)
    local method
    for _, candidate in ipairs(methods) do
      if candidate.name == name then method = candidate end
    end
    local points = {}
    for j, x in ipairs(method.shapes.sweeps[variable]) do
      local shape = {D = 11}
      for key, value in pairs(method.shapes.base) do shape[key] = value end
      shape[variable] = x
      points[j] = {x = x, shape = shape, sampling = 1e-3, held = 1 << 20, counted = 1 << 20,
        computing = 1e-9 * time(shape, method)}
    end
    sweeps[i] = {method = method, variable = variable,
      record = {points = points, seconds = 1, machine = "none", threads = 1}}
  end
  ladies.folder.make(temporary.path "reasons")
  local made = Report.new("costs", temporary.path "reasons", "Costs")
  report(made, sweeps,
    {batches = 1})
  return tostring(made)
end

--- Each method has one line of what its base costs, however many sweeps go through it.
function tests.test_bases()
  local function second() return 1e9 end
  local text = report_of{{"ladies", "s", second}, {"ladies", "b", second}, {"full", "K", second}}
  local from = text:find("| at the base", 1, true)
  local lines = {}
  for line in text:sub(from, text:find("\n\n", from, true)):gmatch "[^\n]+" do
    lines[#lines + 1] = (line:gsub(" +", " "))
  end
  lu.assertEquals(#lines, 4)                               -- with the heading's two
  for i, title in ipairs{"LADIES", "full batch"} do
    lu.assertStrMatches(lines[i + 2],
      "| " .. title .. " |.*| 1%.00 | 1000%.00 | 1%.00 | 1%.00 |")
  end
end

--- A difference from Table 2 is reported where the exponents show it, and nowhere else.
function tests.test_differences_are_those_measured()
  local function power_of(variable, power)
    return function(shape) return 1e6 * shape[variable] ^ power end
  end
  local function as_table(shape, method) return method.time(shape) end
  local function wild(shape) return shape.s == 128 and 1e6 or 1e9 end
  local text = report_of{{"ladies", "s", power_of("s", 1)}, {"fastgcn", "s", as_table},
    {"fastgcn", "b", power_of("b", 0.5)}, {"vrgcn", "s", power_of("s", 1)},
    {"full", "K", power_of("K", 1)}, {"ladies", "K", power_of("K", 1)}}
  for _, line in ipairs{"* below: LADIES, s. Table 2 has the term L K s²",
    "* above: FastGCN, b. Table 2 counts no rows", "* below: VR-GCN, s. Rows that several",
    "* below: full batch, K; LADIES, K. Products of matrices"} do
    lu.assertStrContains(text, line)
  end
  -- Exponents that agree with the table, deviate to the other side than the reason says, deviate
  -- without a reason, and have too large a spread.
  text = report_of{{"ladies", "s", as_table}, {"ladies", "b", as_table}, {"full", "K", as_table},
    {"graphsage", "s", power_of("s", 4)}, {"full", "V", power_of("V", 0.5)},
    {"fastgcn", "s", wild}}
  lu.assertEquals(text:match "not in it, and[^\n]*\n\n([^!]*)", "* below: full batch, V. No "
    .. "reason is known here.\n* above: GraphSAGE, s. No reason is known here.")
  lu.assertNotStrContains(report_of{{"ladies", "s", as_table}}, "not in it, and")
end

function tests.test_wrong_options()
  local function fails(message, own) lu.assertErrorMsgContains(message, run, "wrong", own) end
  fails('no method "ladis"; did you mean "ladies"?', {methods = {"ladis"}})
  fails("batches must be a positive integer, got 0", {batches = 0})
  fails('unknown option "mehtods"; did you mean "methods"?', {mehtods = {}})
end

return tests
