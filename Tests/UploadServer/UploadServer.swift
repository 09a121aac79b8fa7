public import Foundation
public import Interceptors
internal import Synchronization

/// A transport that answers as a server of uploads that resume: the IETF draft (interop version 8) and tus 1.0.
///
/// ```swift
/// let content = Data("a long film".utf8)
/// let uploads = UploadServer(faults: [.cut(after: 4)])
/// let api = Client(baseURL: url, interceptors: [.validateStatus()], transport: uploads)
/// try await api.upload(.stream(content, type: nil), to: "/files", resuming: .draft)
/// #expect(uploads.completed == [content])
/// ```
/// The request of an upload goes to any path; the upload's URL is `/uploads/` and a number. A request without the fields of either
/// protocol is an upload like any other.
public final class UploadServer: Transport, Sendable {
    /// A fault in the treatment of one request.
    public struct Fault: Sendable, Hashable {
        enum Kind: Hashable {
            case none, loseResponse, forget
            case cut(Int)
            case refuse(HTTPResponse.Status, HTTPFields)
            case failAfterContent(HTTPResponse.Status, HTTPFields)
        }

        let kind: Kind

        /// Nothing: the server answers as it should.
        public static let none = Self(kind: .none)
        /// The server takes the whole request, and the connection breaks before the response.
        public static let loseResponse = Self(kind: .loseResponse)
        /// The server keeps the content, and answers 503.
        public static let failAfterContent = Self.failAfterContent(503)
        /// The server forgets the upload that the request is for.
        public static let forget = Self(kind: .forget)

        /// The connection breaks after this many bytes of the content, which the server keeps. With less content nothing happens.
        public static func cut(after count: Int) -> Self { Self(kind: .cut(count)) }

        /// The server refuses the request with a status, and keeps nothing of it.
        public static func refuse(_ status: HTTPResponse.Status) -> Self { refuse(status, [:]) }

        package static func refuse(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Self {
            Self(kind: .refuse(status, fields))
        }

        /// The server keeps the content, and answers with a status and fields.
        package static func failAfterContent(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> Self {
            Self(kind: .failAfterContent(status, fields))
        }
    }

    let store: Mutex<UploadStore>

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - faults: the faults of the requests, in the order of arrival; later requests have no fault.
    ///   - maxAppendSize: the maximum number of bytes in a request, which the draft's `Upload-Limit` names; by default none.
    ///   - sendsInterims: whether the server of the draft names an upload by a response with the status 104; by default it does.
    public convenience init(faults: [Fault] = [], maxAppendSize: Int? = nil, sendsInterims: Bool = true) {
        var behavior = Behavior()
        behavior.maxAppendSize = maxAppendSize
        behavior.sendsInterims = sendsInterims
        self.init(behavior, faults: faults)
    }

    package init(_ behavior: Behavior, faults: [Fault] = []) { store = Mutex(UploadStore(behavior, faults)) }

    /// The contents of the uploads that are complete, in the order in which the uploads began.
    public var completed: [Data] { store.withLock { $0.resources.filter(\.isComplete).map(\.bytes) } }

    /// The bytes of the uploads that are neither complete nor removed.
    public var unfinished: [Data] {
        store.withLock { $0.resources.filter { !$0.isComplete && !$0.isGone }.map(\.bytes) }
    }

    /// The contents of the uploads without a protocol.
    public var plain: [Data] { store.withLock(\.plainUploads) }

    /// The methods of the requests so far, in the order of arrival.
    public var methods: [HTTPRequest.Method] { store.withLock { $0.heads.map(\.method) } }

    /// The fields of the requests so far, in the order of arrival.
    public var headers: [HTTPFields] { store.withLock { $0.heads.map(\.fields) } }

    /// Adds faults of later requests.
    public func enqueue(_ faults: Fault...) { store.withLock { $0.faults += faults } }

    /// Answers a request, as a transport does.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        try request.validate()
        let request = request
        try Task.checkCancellation()
        let head = UploadStore.Head(method: request.method, path: request.url.path, fields: request.headers)
        let admission = store.withLock { $0.admit(head) }
        for fields in admission.interims {
            request.context.interim?(HTTPResponse(status: 104, headers: fields, url: request.url))
        }
        var content = Data()
        var isCut = false
        for try await chunk in request.body {
            let room = (admission.cut ?? .max) - content.count
            content += chunk.prefix(max(0, room))
            request.context.noteTaken(Int64(content.count))
            let progress = TransferProgress(completed: Int64(content.count), total: request.body.length)
            request.context.uploadProgress?(progress)
            try Task.checkCancellation()
            guard chunk.count <= room else {
                isCut = true
                request.body.discard()
                break
            }
        }
        let answer = store.withLock { [content, isCut] in $0.answer(head, admission, content, isCut: isCut) }
        guard let answer else { throw TransportError(.connectionLost, "The connection broke.", request: request) }
        let body = request.method == .head ? "" : answer.body
        return HTTPResponse(
            status: answer.status,
            headers: answer.fields,
            body: HTTPBody(body),
            url: request.url
        )
    }
}

extension UploadServer {
    /// How a server differs from an honest one with all extensions.
    package struct Behavior: Sendable {
        package var supports = true
        package var sendsInterims = true
        package var interopVersion = "8"
        package var createsWithUpload = true
        package var repeatsFinalResponse = true
        package var leavesOutLocation = false
        package var maxAppendSize: Int?
        package var maxSize: Int?
        package var goneStatus: HTTPResponse.Status = 404
        package var finalStatus: HTTPResponse.Status = 200
        /// Precedes the path of an upload's URL, such as another origin.
        package var location: String?
        /// Sent in a second interim response.
        package var secondLocation: String?
        package var lie = Lie.none
        /// Added to each response about an upload, and to the interim responses.
        package var fields: HTTPFields = [:]

        package init() {}

        var limitField: String? {
            let limits = [maxSize.map { "max-size=\($0)" }, maxAppendSize.map { "max-append-size=\($0)" }]
            let text = limits.compactMap { $0 }.joined(separator: ", ")
            return text.isEmpty ? nil : text
        }
    }

    /// A false statement of a server about an upload.
    package enum Lie: String, Sendable, CaseIterable {
        case none
        case beyondLength, beyondSent, decreases, noOffset, anotherLength, completesEarly

        /// Whether the server takes a part wherever it begins.
        package var ignoresOffsets: Bool { self == .beyondSent || self == .decreases }

        /// The offset that the server names.
        func offset(of resource: UploadStore.Resource) -> Int? {
            let offset = resource.bytes.count
            switch self {
            case .none, .anotherLength, .completesEarly: return offset
            case .beyondLength: return resource.length + 1
            // With fewer bytes a client could not know better.
            case .beyondSent: return resource.received < resource.length ? resource.received + 1 : offset
            case .decreases: return resource.named > 0 ? resource.named - 1 : offset
            case .noOffset: return nil
            }
        }
    }
}
