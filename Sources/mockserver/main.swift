internal import Foundation
internal import InterceptorsCore
internal import InterceptorsRecordings
internal import InterceptorsTesting

// The command-line program of the package: a mock server over a folder.

let arguments: ServerArguments
do {
    arguments = try ServerArguments(Array(CommandLine.arguments.dropFirst()))
} catch {
    ProgramOutput.error("mockserver: \(error.message)\n\n\(ServerArguments.usage)")
    exit(2)
}
// A closed pipe, such as that of `mockserver FOLDER | head`, must not end the server.
signal(SIGPIPE, SIG_IGN)
guard !arguments.isHelp else {
    ProgramOutput.text(ServerArguments.usage)
    exit(0)
}
await ServerProgram(arguments).run()
