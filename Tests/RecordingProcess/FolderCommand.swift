import Foundation
import InterceptorsRecordings
import InterceptorsTestSupport

/// The commands for folders of answers. Each begins with `folder`:
///
/// - `record FOLDER FIRST TIME` records the versions from number FIRST on, each with a new recorder, and prints each version. It
///   ends by a signal, or after TIME microseconds of processor time.
/// - `ask FOLDER DESCRIPTORS` prints the error of a request that FOLDER doesn't answer, as a user without rights and with at most
///   this many open descriptors.
enum FolderCommand {
    static func run(_ arguments: [String]) async throws {
        guard let command = arguments.first, arguments.count >= 3, let number = Int(arguments[2]) else { exit(64) }
        let folder = URL(filePath: arguments[1])
        switch command {
        case "record": try await record(folder, from: number, microseconds: arguments.last.flatMap { Int($0) } ?? 0)
        case "ask": await ask(folder, descriptors: number)
        default: exit(64)
        }
    }

    private static func record(_ folder: URL, from first: Int, microseconds: Int) async throws {
        ProcessLimits.killAfter(microseconds: microseconds)
        for version in first... {
            let server = StubTransport { request in
                let fill = FolderFill(Int(request.url.lastPathComponent) ?? 0, version)
                var fields: HTTPFields = fill.content.isEmpty ? [:] : [.contentType: FolderFill.type(version)]
                fields["X-Mark"] = fill.mark
                return HTTPResponse(
                    status: HTTPResponse.Status(code: fill.status) ?? 200,
                    headers: fields,
                    body: HTTPBody(fill.content)
                )
            }
            let record: AnyInterceptor = .record(to: folder, report: { _ in exit(1) })
            let chain = InterceptorChain([record], transport: server)
            for item in 0..<FolderFill.items {
                guard let url = URL(string: "https://a.example/\(item)") else { exit(65) }
                _ = try await chain.send(HTTPRequest(url: url))
            }
            report("\(version)")
        }
    }

    private static func ask(_ folder: URL, descriptors: Int) async {
        if getuid() == 0 { setuid(65_534) }
        var limit = rlimit(rlim_cur: .init(descriptors), rlim_max: .init(descriptors))
        #if os(Linux)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
        setrlimit(RLIMIT_NOFILE, &limit)
        #endif
        guard let url = URL(string: "https://api.example.com/none") else { exit(65) }
        do {
            _ = try await StubTransport.files(in: folder).send(HTTPRequest(url: url))
        } catch {
            let error = error as? TransportError
            report("\(error?.code.rawValue ?? "") \(error?.message ?? "")")
        }
    }
}
