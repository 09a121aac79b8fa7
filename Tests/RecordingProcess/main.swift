import Foundation

// A second process for the tests of recordings: each command is in a file.

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "tape": try await TapeCommand.run(Array(arguments.dropFirst(2)))
case "folder": try await FolderCommand.run(Array(arguments.dropFirst(2)))
case "launch": await LaunchCommand.run(Array(arguments.dropFirst(2)))
default: exit(64)
}
