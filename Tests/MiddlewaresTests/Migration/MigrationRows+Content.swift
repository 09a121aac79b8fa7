import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

// The content of requests, downloads and envelopes.
extension MigrationRows {
    static let content: [String: Check] = [
        ".requestPlain": plain, ".requestParameters with URLEncoding": form,
        ".requestParameters with JSONEncoding": json, ".requestJSONEncodable": encoded,
        ".requestData, .uploadFile": raw, ".uploadMultipart": multipart, "MultipartFormData": multipart,
        "ParameterEncoder, ParameterEncoding": parameters, "httpBody, upload(for:from:)": bodies,
        "download(for:)": download, "DownloadRequest": download, ".downloadDestination": download,
        "download(resumeFrom:)": resumed, "resume data": resumed,
        "map(_:atKeyPath:)": payloadAtPath, "a generic response with status and data": statusAndData,
        "a generic response with data alone": dataAlone, "DeflateRequestCompressor": compressed,
    ]

    private static let plain: Check = { () async throws in
        let requests = try await sent { _ = try await $0.get("/users", as: User.self) }
        #expect(try await text(requests.first).isEmpty)
    }

    private static let form: Check = { () async throws in
        let requests = try await sent { _ = try await $0.post("/", body: .form(["name": "Ada L"]), as: User.self) }
        #expect(try await text(requests.first) == "name=Ada%20L")
        #expect(requests.first?.headers.mediaType == "application/x-www-form-urlencoded")
    }

    private static let json: Check = { () async throws in
        let requests = try await sent { _ = try await $0.post("/", body: .json(["name": "Ada"]), as: User.self) }
        #expect(try await text(requests.first) == #"{"name":"Ada"}"#)
    }

    private static let encoded: Check = { () async throws in
        let requests = try await sent { _ = try await $0.post("/", body: .encoded(["Ada"]), as: User.self) }
        #expect(try await text(requests.first) == #"["Ada"]"#)
        #expect(requests.first?.headers.mediaType == "application/json")
    }

    private static let raw: Check = { () async throws in
        let photo = RequestBody.data(Data("jpeg".utf8), type: "image/jpeg")
        let requests = try await sent { _ = try await $0.put("/photo", body: photo, as: User.self) }
        #expect(try await text(requests.first) == "jpeg")
        #expect(requests.first?.headers[.contentType] == "image/jpeg")
    }

    private static let multipart: Check = { () async throws in
        let form = try RequestBody.multipart([.text(name: "title", "Ada")])
        let requests = try await sent { _ = try await $0.post("/photos", body: form, as: User.self) }
        #expect(try await text(requests.first).contains("name=\"title\"\r\n\r\nAda\r\n"))
    }

    private static let parameters: Check = { () async throws in
        var encoder = HTTPQueryEncoder()
        encoder.arrays = .brackets
        let query = try encoder.encode(["ids": [1, 2]])
        let requests = try await sent { _ = try await $0.get("/users", as: User.self, query: query) }
        #expect(requests.first?.url.query()?.removingPercentEncoding == "ids[]=1&ids[]=2")
        try await bodies()
    }

    private static let bodies: Check = { () async throws in
        let requests = try await sent { _ = try await $0.post("/users", body: ["name": "Ada"], as: User.self) }
        #expect(try await text(requests.first) == #"{"name":"Ada"}"#)
        try await form()
        try await raw()
        try await withFile { file in
            try Data("from a file".utf8).write(to: file)
            let requests = try await sent { try await $0.put("/text", body: .file(at: file)) }
            #expect(try await text(requests.first) == "from a file")
        }
    }

    private static let download: Check = { () async throws in
        try await withFile { file in
            try await sent([], [.text("film")]) { _ = try await $0.download("/film", to: file) }
            #expect(try Data(contentsOf: file) == Data("film".utf8))
        }
    }

    private static let resumed: Check = { () async throws in
        try await withFile { file in
            let stub = StubTransport()
            let version: HTTPFields = [.eTag: "\"1\"", .acceptRanges: "bytes"]
            stub.on(.get, "/v1/film") { request in
                var fields = version
                guard request.headers[.range] == "bytes=2-" else {
                    fields[.contentLength] = "4"
                    return .stream(
                        [Data("fi".utf8)],
                        thenFailing: TransportError(.tlsFailed, "Cut."),
                        headers: fields
                    )
                }
                fields[.contentRange] = "bytes 2-3/4"
                return .data(Data("lm".utf8), status: 206, headers: fields)
            }
            let api = client([], stub)
            _ = try? await api.download("/film", to: file, resuming: .acrossLaunches)
            _ = try await api.download("/film", to: file, resuming: .acrossLaunches)
            #expect(try Data(contentsOf: file) == Data("film".utf8))
        }
    }

    private static let payloadAtPath: Check = { () async throws in
        try await sent(
            [.unwrapEnvelope(payload: "data.user", success: .payload)],
            [.json(#"{"data":{"user":{"id":42,"name":"Ada"}}}"#)]
        ) { (api) async throws in #expect(try await api.get("/users/42", as: User.self) == User()) }
    }

    private static let statusAndData: Check = { () async throws in
        let answers: [StubAnswer] = [
            .json(#"{"status":"ok","data":{"id":42,"name":"Ada"}}"#), .json(#"{"status":"not_found","message":"No"}"#),
        ]
        try await sent([.unwrapEnvelope(payload: "data", code: "status", success: .codes("ok"))], answers) {
            (api) async throws in
            #expect(try await api.get("/users/42", as: User.self) == User())
            let error = await #expect(throws: EnvelopeError.self) { _ = try await api.get("/users/43", as: User.self) }
            #expect(error?.serverCode == "not_found")
        }
    }

    private static let dataAlone: Check = { () async throws in
        try await sent(
            [.unwrapEnvelope(payload: "data", success: .payload)],
            [.json(#"{"data":{"id":42,"name":"Ada"}}"#)]
        ) { (api) async throws in #expect(try await api.get("/users/42", as: User.self) == User()) }
    }

    private static let compressed: Check = { () async throws in
        let long = RequestBody.data(Data(repeating: 65, count: 100_000), type: "text/plain")
        let requests = try await sent([.compressRequest()]) { try await $0.post("/log", body: long) }
        #expect(requests.first?.headers[.contentEncoding] == "gzip")
    }
}
