import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTraffic

@testable import InterceptorsMiddlewares

/// The arrays of interceptors in the README, the documentation, the examples and the adapters, read from their text.
///
/// `Scripts/check-examples` compiles the same text. Here each element becomes an interceptor of the same kind, with the settings
/// that rules depend on: the store, the jar, the limit of a timeout.
struct DocumentedChains {
    struct Chain {
        let place: String
        let interceptors: [any Interceptor]
    }

    private(set) var chains: [Chain] = []
    private var stores: [String: TokenStore] = [:]
    private var jars: [String: CookieJar] = [:]

    init() throws {
        let files = try ["README.md", "Docs", "Sources", "Examples", "Adapters"].flatMap(Self.files)
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            let isCode = file.pathExtension == "swift" && !file.path.contains("/Sources/")
            for code in isCode ? [text] : Self.examples(in: text, isComment: file.pathExtension == "swift") {
                for array in Self.arrays(in: Self.withoutComments(code)) {
                    if let interceptors = interceptors(in: array) {
                        chains.append(Chain(place: "\(file.lastPathComponent): [\(array)]", interceptors: interceptors))
                    }
                }
            }
        }
    }

    private static func files(below path: String) throws -> [URL] {
        let url = Repository.root.appending(path: path)
        guard let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil) else { return [] }
        let all = files.compactMap { $0 as? URL }.filter { !$0.path.contains("/.build") }
        return (all.isEmpty ? [url] : all).filter { ["md", "swift"].contains($0.pathExtension) }
            .sorted { $0.path < $1.path }
    }

    /// The blocks of Swift code in a Markdown text, or in the comments of a source file.
    private static func examples(in text: String, isComment: Bool) -> [String] {
        var examples: [String] = []
        var current: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = line.drop { $0 == " " }
            if isComment {
                guard line.hasPrefix("///") else {
                    current = nil
                    continue
                }
                line = line.dropFirst(3).drop { $0 == " " }
            }
            if let lines = current, line.hasPrefix("```") {
                examples.append(lines.joined(separator: "\n"))
                current = nil
            } else if current != nil {
                current?.append(line)
            } else if line.hasPrefix("```swift") {
                current = []
            }
        }
        return examples
    }

    private static func withoutComments(_ code: String) -> String {
        code.split(separator: "\n", omittingEmptySubsequences: false).map { line -> Substring in
            var isInString = false
            for index in line.indices {
                if line[index] == "\"" { isInString.toggle() }
                if !isInString, line[index...].hasPrefix("//") { return line[..<index] }
            }
            return line
        }.joined(separator: "\n")
    }

    /// The contents of the outermost arrays with an element that looks like `.name(…)` or `.name {`, and is an interceptor's name.
    static func arrays(in code: String) -> [String] {
        var arrays: [String] = []
        var rest = Substring(code)
        while let start = rest.firstIndex(of: "[") {
            let inside = rest[rest.index(after: start)...]
            rest = inside
            guard let end = end(of: inside) else { continue }
            let array = String(inside[..<end])
            guard elements(of: array).contains(where: isFactory) else { continue }
            arrays.append(array)
            rest = inside[end...]
        }
        return arrays
    }

    private static func isFactory(_ element: String) -> Bool {
        guard let match = element.prefixMatch(of: #/\.([a-z]\w*)\s*[({]/#) else { return false }
        return names.contains(String(match.1))
    }

    private static let names: Set<String> = [
        "unwrapEnvelope", "validateStatus", "cancelPrevious", "headers", "transactionID", "tracing", "compressRequest",
        "followRedirects", "coalesce", "cache", "retry", "hedge", "rateLimit", "limitConcurrency", "circuitBreaker",
        "timeout", "waitForNetwork",
        "logging", "metrics", "intercept", "retryOnUnauthorized", "bearerAuth", "partition", "cookies", "digestAuth",
        "basicAuth", "httpAuth", "sign", "group", "when",
    ]

    /// The position of the bracket that closes a text.
    private static func end(of text: Substring) -> String.Index? {
        var depth = 0
        var isInString = false
        for index in text.indices {
            switch text[index] {
            case "\"": isInString.toggle()
            case _ where isInString: break
            case "(", "[", "{": depth += 1
            case ")", "]", "}":
                if depth == 0 { return index }
                depth -= 1
            default: break
            }
        }
        return nil
    }

    /// The elements of an array's text.
    private static func elements(of array: String) -> [String] {
        var elements: [String] = [""]
        var depth = 0
        var isInString = false
        for character in array {
            if character == "\"" { isInString.toggle() }
            if !isInString {
                if "([{".contains(character) { depth += 1 }
                if ")]}".contains(character) { depth -= 1 }
                if depth == 0, character == "," {
                    elements.append("")
                    continue
                }
            }
            elements[elements.count - 1].append(character)
        }
        return elements.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
    }

    /// The interceptors that an array's text describes; `nil` if the array holds something else.
    private mutating func interceptors(in array: String) -> [any Interceptor]? {
        var isChain = false
        var interceptors: [any Interceptor] = []
        for element in Self.elements(of: array) {
            if Self.isFactory(element), let match = element.wholeMatch(of: #/(?s)\.(\w+)\s*(.*)/#),
                let interceptor = interceptor(String(match.1), String(match.2))
            {
                isChain = true
                interceptors.append(interceptor)
            } else {
                // The example defines this interceptor.
                interceptors.append(AnyInterceptor.intercept { request, next in try await next(request) })
            }
        }
        return isChain ? interceptors : nil
    }

    private mutating func interceptor(_ name: String, _ arguments: String) -> AnyInterceptor? {
        var known = plain(name, arguments) ?? identity(name, arguments) ?? part(name, arguments)
        for match in arguments.matches(of: #/\.acknowledged\(\.(\w+)/#) {
            known = known?.acknowledged(ChainRule(rawValue: String(match.1)), "as documented")
        }
        return known
    }

    private func plain(_ name: String, _ arguments: String) -> AnyInterceptor? {
        switch name {
        case "unwrapEnvelope": .unwrapEnvelope(payload: "data")
        case "validateStatus" where arguments.contains("{"): .validateStatus { _ in false }
        case "validateStatus": .validateStatus()
        case "cancelPrevious": .cancelPrevious()
        case "headers" where arguments.contains("{"): .headers { _ in [:] }
        case "headers" where arguments.contains(#/(?i)authorization|api-?key/#): .headers(["X-API-Key": ""])
        case "headers": .headers([:])
        case "transactionID": .transactionID()
        case "tracing": .tracing()
        case "compressRequest": .compressRequest()
        case "followRedirects": .followRedirects()
        case "coalesce": .coalesce()
        case "cache": .cache(.memory())
        case "retry" where arguments.contains("401"): .retry(when: .status(401))
        case "retry": .retry()
        case "hedge": .hedge(after: .seconds(1))
        case "rateLimit": .rateLimit(100, per: .seconds(60))
        case "limitConcurrency" where arguments.hasPrefix("()"): .limitConcurrency()
        case "limitConcurrency": .limitConcurrency(32)
        case "circuitBreaker": .circuitBreaker()
        case "waitForNetwork": .waitForNetwork(upTo: .seconds(30), monitor: NetworkPathMonitor())
        case "timeout": .timeout(Self.limit(in: arguments))
        case "logging":
            .logging(arguments.contains("(.body") ? .body : arguments.contains("(.headers") ? .headers : .basic)
        case "metrics": .metrics { _ in }
        case "intercept": .intercept { request, next in try await next(request) }
        default: nil
        }
    }

    private static func limit(in arguments: String) -> Duration? {
        if let seconds = arguments.firstMatch(of: #/\.seconds\((\d+)\)/#) { return .seconds(Int(seconds.1) ?? 0) }
        if let match = arguments.firstMatch(of: #/\.milliseconds\((\d+)\)/#) { return .milliseconds(Int(match.1) ?? 0) }
        return nil
    }

    private mutating func identity(_ name: String, _ arguments: String) -> AnyInterceptor? {
        let store = arguments.firstMatch(of: #/^\((?:by: )?([a-z]\w*)/#).map { self.store(named: String($0.1)) }
        switch name {
        case "retryOnUnauthorized": return store.map { .retryOnUnauthorized($0) } ?? .retryOnUnauthorized {}
        case "bearerAuth": return store.map { .bearerAuth($0) } ?? .bearerAuth("token")
        case "partition": return store.map { .partition(by: $0) }
        case "cookies":
            let jar = jars[arguments] ?? CookieJar()
            jars[arguments] = jar
            return .cookies(jar)
        case "digestAuth", "basicAuth", "httpAuth": return .digestAuth(username: "", password: "")
        case "sign":
            return .sign(identifiesCaller: !arguments.contains("identifiesCaller: false")) { _, _ in }
        default: return nil
        }
    }

    private mutating func store(named name: String) -> TokenStore {
        let store = stores[name] ?? TokenStore { _ in throw CancellationError() }
        stores[name] = store
        return store
    }

    private mutating func part(_ name: String, _ arguments: String) -> AnyInterceptor? {
        guard name == "group" || name == "when", let array = Self.arrays(in: arguments).last,
            let inside = interceptors(in: array)
        else { return nil }
        if name == "group" { return .group(inside) }
        let isForOrigin = arguments.hasPrefix("(.origin(")
        return .when(isForOrigin ? .origin("https://api.example.com") : .matching { $0.method == .get }, inside)
    }
}
