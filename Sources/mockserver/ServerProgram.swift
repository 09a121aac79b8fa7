internal import Foundation
internal import InterceptorsCore
internal import InterceptorsRecordings
internal import InterceptorsTesting

/// Serves a folder until a signal ends the program.
struct ServerProgram {
    private let arguments: ServerArguments
    private let answers: FolderAnswers
    private let time = TimeSource.system

    init(_ arguments: ServerArguments) {
        self.arguments = arguments
        answers = FolderAnswers(URL(filePath: arguments.folder), now: time.now)
    }

    func run() async {
        let server: MockServer
        do {
            server = try start()
        } catch {
            ProgramOutput.error("mockserver: \(error)")
            exit(1)
        }
        // Without a handler, the first process of a container would ignore these signals.
        for number in [SIGINT, SIGTERM] { signal(number) { _ in _exit(0) } }
        ProgramOutput.line("Serving \(arguments.folder) at \(server.url)")
        // The path comes from a file's name, which may hold a quotation mark of the shell.
        let path = (answers.example ?? "/").replacing("'", with: "%27")
        ProgramOutput.line("Try: curl -i '\(server.url)\(path)'")
        for problem in answers.problems() { ProgramOutput.line("problem: \(problem)") }
        for await _ in AsyncStream(Never.self, { _ in }) {}
        withExtendedLifetime(server) {}
    }

    private func start() throws -> MockServer {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: arguments.folder, isDirectory: &isFolder), isFolder.boolValue
        else {
            throw ServerFailure(description: "There is no folder \(arguments.folder).")
        }
        let (port, answers, time) = (arguments.port, answers, time)
        return try MockServer(port: port, keepsRequests: false, time: time) { [arguments] request in
            let stopwatch = time.stopwatch()
            let isFailing = Double.random(in: 0..<1) < arguments.failureRate
            if arguments.delay > .zero { try? await time.clock.sleep(for: arguments.delay) }
            if isFailing {
                ProgramOutput.line(Self.line(request, 503, "failed on purpose (--fail)", stopwatch.elapsed()))
                return .text("mockserver failed this request on purpose (--fail).\n", status: 503)
            }
            let found = await FolderResponse(to: request, from: answers)
            let reason = found.file ?? found.problem ?? ""
            ProgramOutput.line(Self.line(request, found.status, reason, stopwatch.elapsed()))
            return found.response
        }
    }

    private static func line(
        _ request: MockServer.Request,
        _ status: Int?,
        _ reason: String,
        _ duration: Duration
    ) -> String {
        let target = Redaction.standard.redactingURL(request.target)
        let milliseconds = Double(Int64(duration / .microseconds(100))) / 10
        let result = status.map(String.init) ?? "no response"
        return "\(request.method) \(target) → \(result) \(reason) (\(milliseconds) ms)"
    }
}

/// A reason why the server can't start.
struct ServerFailure: Error, CustomStringConvertible {
    let description: String
}
