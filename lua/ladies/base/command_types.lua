--- Makes the types of a function's options, for options.check, from the options that a command
-- declares in the form of ladies.command.cli. An option may have two further fields:
-- `program` is its type in a program where that is another one, and false where only the command
-- has it; `standard` is the default where the command is to know that an option was not given.

--- command_types(list) -> table: the types by name, for options.check.
return function(list)
  local types = {}
  for _, option in ipairs(list) do
    local is_flag, standard = not option[2], option.default
    if is_flag then standard = false elseif standard == nil then standard = option.standard end
    local type_text = option.program or is_flag and "boolean" or option[3]
    if option.program ~= false then
      types[option[1]:gsub("-", "_")] = standard ~= nil
        and {type_text, standard, quick = option.quick} or type_text .. " or nil"
    end
  end
  return types
end
