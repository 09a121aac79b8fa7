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
        let ending = EndingSignals()
        ProgramOutput.line("Serving \(arguments.folder) at \(server.url)")
        // The path comes from a file's name, which may hold a quotation mark of the shell.
        let path = (answers.example ?? "/").replacing("'", with: "%27")
        ProgramOutput.line("Try: curl -i '\(server.url)\(path)'")
        let watching = Task { await watch() }
        await ending.received()
        watching.cancel()
        server.stop()
        ProgramOutput.line("Stopped.")
    }

    private func start() throws -> MockServer {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: arguments.folder, isDirectory: &isFolder), isFolder.boolValue
        else {
            throw ServerFailure(description: "There is no folder \(arguments.folder).")
        }
        let random = arguments.seed.map(RandomSource.seeded) ?? .system
        let (port, answers, time) = (arguments.port, answers, time)
        return try MockServer(port: port, keepsRequests: false, time: time) { [arguments] request in
            let stopwatch = time.stopwatch()
            // The same seed picks the same requests in the order of their arrival.
            let isFailing = random.unit() < arguments.failureRate
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

    private func watch() async {
        var seen: Set<String> = []
        report(answers.problems(), unless: &seen)
        guard arguments.isWatching else { return }
        var before = snapshot()
        ProgramOutput.line("Watching \(before.count) files.")
        while !Task.isCancelled {
            try? await time.clock.sleep(for: .milliseconds(300))
            let now = snapshot()
            guard now != before else { continue }
            for file in Set(before.keys).union(now.keys).sorted() where before[file] != now[file] {
                let change = before[file] == nil ? "new" : now[file] == nil ? "removed" : "changed"
                ProgramOutput.line("\(change): \(answers.printable(file))")
            }
            before = now
            answers.reload()
            report(answers.problems(), unless: &seen)
        }
    }

    /// The files, and what changes when a file does.
    private func snapshot() -> [String: String] {
        let files = answers.files().map { file in
            let path = URL(filePath: arguments.folder).appending(path: file).path
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            let date = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
            return (file, "\(attributes?[.size] ?? 0) \(date) \(attributes?[.systemFileNumber] ?? 0)")
        }
        return Dictionary(files) { first, _ in first }
    }

    private func report(_ problems: [String], unless seen: inout Set<String>) {
        for problem in problems where !seen.contains(problem) { ProgramOutput.line("problem: \(problem)") }
        seen = Set(problems)
    }
}

/// A reason why the server can't start.
struct ServerFailure: Error, CustomStringConvertible {
    let description: String
}
