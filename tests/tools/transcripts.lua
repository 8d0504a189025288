--- Transcripts of the prompt in a page: listings in the language "prompt", whose lines after "> "
-- and ">> " are typed and whose others are what the prompt answers. All of a page are one session.

local ladies = require "ladies"
local shell = require "tools.shell"

local transcripts = {}

local FIRST, NEXT = "\1", "\2"   -- the prompts of the session, to tell its answers apart

-- The listings' typed lines, in their order.
local function inputs_of(page)
  local lines, inside = {}, false
  for line in page:gmatch "([^\n]*)\n" do
    if line:find "^```" then
      inside = line == "```prompt"
    elseif inside then
      lines[#lines + 1] = line:match "^>>? ?(.*)$"
    end
  end
  return lines
end

-- Returns the session's answer to each line.
local function answers_to(lines)
  local setup = ("_PROMPT, _PROMPT2 = %q, %q"):format(FIRST, NEXT)
  local command = ("exec %s -i -e %s 2>&1"):format(shell.quote(shell.ladies), shell.quote(setup))
  local out = shell.run({"sh", "-c", command}, {stdin = table.concat(lines, "\n") .. "\n"})
  local answers, home = {}, ladies.home():gsub("%p", "%%%0")
  for answer in out:gsub("^[^\1]*", ""):gmatch("[\1\2]([^\1\2]*)") do
    answers[#answers + 1] = answer:gsub(home, "/usr/local/share/ladies", 1)
  end
  return answers
end

--- The page with today's answers in its transcripts, and how many lines are typed.
function transcripts.filled(page)
  local answers, made, inside, n = answers_to(inputs_of(page)), {}, false, 0
  for line in page:gmatch "([^\n]*)\n" do
    local is_typed = inside and line:find "^>"
    if line:find "^```" then inside = line == "```prompt" end
    if is_typed or not inside or line:find "^```" then made[#made + 1] = line end
    if is_typed then
      n = n + 1
      local answer = answers[n]:gsub("\n$", "")
      if answer ~= "" then made[#made + 1] = answer end
    end
  end
  return table.concat(made, "\n") .. "\n", n
end

return transcripts
