--- One mutant in a tree: written, built, given to the tests that execute its line.
local core = require "ladies_core"

local trial = {}

local function write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

-- Tells whether the compiler makes the same bytecode of both texts of Lua; nil where the mutated
-- one does not compile.
local function same_in_lua(text, mutated)
  local one, other = load(text, "="), load(mutated, "=")
  if not other then return nil end
  return string.dump(one, true) == string.dump(other, true)
end

-- Tells whether the program that `tree` builds, which has the mutated text, is the same; nil where
-- it does not compile.
local function same_in_c(tree, program)
  if not tree:make "ladies" then return nil end
  return tree:program() == program
end

-- The first of the tests that fails or takes too long, twice, and how many were run. Once is no
-- proof: on a machine that has other work, a few tests fail by that alone.
local function first_failure(tree, tests, names)
  for i, one in ipairs(names) do
    local limit = 5 * one.seconds + 10
    if not tree:run(tests[one.name], limit) and not tree:run(tests[one.name], limit) then
      return one.name, i
    end
  end
  return nil, #names
end

-- Returns the outcome of a mutant that is written: "unbuilt" when it is no program, "equal" when it
-- is the same one, "caught" and the test that did it, or "survived"; then the number of tests.
local function outcome_of(tree, tests, map, mutant, text, mutated, program)
  local is_lua = mutant.path:find "%.lua$"
  local same
  if is_lua then same = same_in_lua(text, mutated) else same = same_in_c(tree, program) end
  if same then return "equal", nil, 0 end
  if same == nil or not is_lua and not tree:make() then return "unbuilt", nil, 0 end
  local by, count = first_failure(tree, tests, map:tests_of(mutant.path, mutant.line))
  return by and "caught" or "survived", by, count
end

--- Tries a mutant {path, at, last, by, line}, and returns the record that is kept of it. `tests`
-- are the tree's by name, `program` the hash of its program without faults.
function trial.run(tree, tests, map, mutant, program)
  local before = core.clock()
  local path = tree.root .. "/" .. mutant.path
  local text = read(path)
  local mutated = text:sub(1, mutant.at - 1) .. mutant.by .. text:sub(mutant.last + 1)
  write(path, mutated)
  local outcome, by, count = outcome_of(tree, tests, map, mutant, text, mutated, program)
  write(path, text)
  return {number = mutant.number, path = mutant.path, line = mutant.line, kind = mutant.kind,
    from = mutant.from, by = mutant.by, before = mutant.before, after = mutant.after,
    outcome = outcome, test = by, tests = count, seconds = core.clock() - before}
end

return trial
