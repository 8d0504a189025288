-- ladies completion: writes what completes command lines of ladies in bash, zsh or fish
--
--   source <(ladies completion bash)
--   ladies completion zsh > FOLDER/_ladies        a folder of $fpath
--   ladies completion fish | source
--
-- It is made of the options of the commands. An installation has these files where the shells look
-- for them.

local cli = require "ladies.command.cli"
local completion = require "ladies.command.completion"

cli.main({
  name = "ladies completion",
  usage = "ladies completion bash|zsh|fish", words = {"shell"},
  about = "Writes what completes command lines of ladies in a shell.",
}, arg, function(opts)
  local shell = completion[opts.shell]
  if not shell then error("which shell? ladies completion bash|zsh|fish", 0) end
  io.write(shell())
end)
