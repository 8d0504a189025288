--- Looks at pages in a browser: chromium, driven by Playwright in the Python that scripts/test
-- installs, or in that of LADIES_PYTHON.
local here = debug.getinfo(1, "S").source:match "^@(.*)/" or "."

local lu = require "luaunit"
local core = require "ladies_core"
local json = require "ladies.base.json"
local shell = require "tools.shell"

local browser = {}

local tools = shell.run{"readlink", "-f", here}:match "[^\n]+"

browser.python = os.getenv "LADIES_PYTHON" or tools .. "/../../build/python/bin/python"

--- Skips the test where there is no chromium, or a module of Python is missing.
function browser.needs(modules)
  if not core.process.exists "chromium" then lu.skip "no chromium (scripts/test)" end
  local _, _, status = shell.run{browser.python, "-c", "import " .. modules}
  if status ~= 0 then lu.skip(("no Python with %s (scripts/test)"):format(modules)) end
end

--- Runs one of the programs tools/browse_*.py with some arguments, and an environment as of
-- shell.run, and returns its answer.
function browser.see(program, arguments, env)
  local out = shell.succeeded(shell.run({browser.python, tools .. "/" .. program,
    table.unpack(arguments)}, {env = env}))
  return json.decode(out, program)
end

return browser
