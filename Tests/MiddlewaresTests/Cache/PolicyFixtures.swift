import Foundation
import Interceptors
import InterceptorsSyntax
import Testing

@testable import InterceptorsMiddlewares

/// The time at which the tables begin, in seconds since 1970.
let start: Int64 = 1_700_000_000

func date(_ offset: Int64) -> String { HTTPDate.format(start + offset) }

/// Fields from lines, `Name: value`. `{n}` stands for the date n seconds after the start.
func fields(_ lines: [String]) -> HTTPFields {
    var fields = HTTPFields()
    for line in lines {
        let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
        var value = parts.count > 1 ? parts[1] : ""
        while let open = value.firstIndex(of: "{"), let close = value.firstIndex(of: "}"), open < close,
            let offset = Int64(value[value.index(after: open)..<close])
        {
            value.replaceSubrange(open...close, with: date(offset))
        }
        fields.append(HTTPField.Name(stringLiteral: parts[0]), value)
    }
    return fields
}

/// A row of a table: an RFC's section, a response, a request, and the expected decision.
struct Row: Sendable, CustomTestStringConvertible {
    var section: String
    var method: HTTPRequest.Method = .get
    var request: [String] = []
    var storedRequest: [String] = []
    var status: HTTPResponse.Status = 200
    var response: [String]
    var age: Int64 = 10
    var mode: CacheMode = .standard
    var expected: String

    init(
        _ section: String,
        _ response: [String],
        age: Int64 = 10,
        request: [String] = [],
        was storedRequest: [String] = [],
        method: HTTPRequest.Method = .get,
        status: HTTPResponse.Status = 200,
        mode: CacheMode = .standard,
        _ expected: String
    ) {
        self.section = section
        self.method = method
        self.request = request
        self.storedRequest = storedRequest
        self.status = status
        self.response = response
        self.age = age
        self.mode = mode
        self.expected = expected
    }

    var testDescription: String { "§\(section) \(method) \(request) on \(response) at \(age) s \(mode): \(expected)" }

    func httpRequest(_ lines: [String]? = nil) throws -> HTTPRequest {
        var context = HTTPContext()
        context.cacheMode = mode
        return HTTPRequest(
            method: method,
            url: try url("https://a.example/x?q"),
            headers: fields(lines ?? request),
            context: context
        )
    }

    var httpResponse: HTTPResponse { HTTPResponse(status: status, headers: fields(response)) }
}

extension CachePolicy.Timing {
    static func at(_ offset: Int64, delay: Int64 = 0) -> Self {
        Self(responseTime: start + offset, wallTime: start + offset, delay: delay)
    }
}

/// A response as a store would keep it, with a body of ten bytes.
func stored(
    _ lines: [String],
    status: HTTPResponse.Status = 200,
    for request: [String] = [],
    at offset: Int64 = 0
) throws
    -> CacheEntry
{
    let request = HTTPRequest(url: try url("https://a.example/x?q"), headers: fields(request))
    let response = HTTPResponse(status: status, headers: fields(lines))
    let stored = CachePolicy().stored(response, to: request, timing: .at(offset))
    return CacheEntry(id: 1, response: stored, body: Data(count: 10))
}

func describe(_ decision: CachePolicy.Decision) -> String {
    switch decision {
    case .unsatisfiable: return "504"
    case .forward(let forward):
        let conditions = forward.fields.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        return "\(forward.reason)" + (conditions.isEmpty ? "" : " " + conditions)
    case .serve(let served):
        let form: String =
            switch served.form {
            case .full: ""
            case .head: " head"
            case .notModified: " 304"
            case .partial(let range): " \(range)"
            case .unsatisfiableRange: " 416"
            }
        return (served.stale?.description ?? "fresh") + form
    }
}
