internal import Foundation
internal import Interceptors

/// The uploads of an ``UploadServer``. A value: the server guards it with a mutex.
struct UploadStore: Sendable {
    /// The head of a request, as both kinds of server see it.
    struct Head: Sendable {
        let method: HTTPRequest.Method
        let path: String
        let fields: HTTPFields
    }

    /// How the server treats the content of a request.
    struct Admission: Sendable {
        /// The interim responses with the status 104.
        var interims: [HTTPFields] = []
        /// The number of bytes after which the connection breaks, if any.
        var cut: Int?
        let number: Int
        fileprivate(set) var fault: UploadServer.Fault = .none
        fileprivate(set) var id: Int?
    }

    struct Answer: Sendable {
        var status: HTTPResponse.Status
        var fields: HTTPFields = [:]
        var body = ""
    }

    struct Resource: Sendable {
        var bytes = Data()
        var length: Int
        var isComplete = false
        var isGone = false
        let isDraft: Bool
        /// The end of the content that the server has seen, whether it kept the content or not.
        var received = 0
        /// The greatest offset that the server has named.
        var named = 0
    }

    let behavior: UploadServer.Behavior
    var faults: [UploadServer.Fault]
    var resources: [Resource] = []
    var plainUploads: [Data] = []
    private(set) var heads: [Head] = []

    init(_ behavior: UploadServer.Behavior, _ faults: [UploadServer.Fault]) {
        self.behavior = behavior
        self.faults = faults
    }

    func path(of id: Int) -> String { "/uploads/\(id)" }

    private func id(of path: String) -> Int? {
        guard let text = path.split(separator: "/").last, path.hasPrefix("/uploads/"), let id = Int(text),
            resources.indices.contains(id)
        else { return nil }
        return id
    }

    /// Takes the head of a request.
    mutating func admit(_ head: Head) -> Admission {
        heads.append(head)
        var admission = Admission(number: heads.count - 1)
        if !faults.isEmpty { admission.fault = faults.removeFirst() }
        if case .cut(let count) = admission.fault.kind { admission.cut = count }
        if case .refuse = admission.fault.kind { return admission }
        if let id = id(of: head.path) {
            admission.id = id
            if admission.fault == .forget { resources[id].isGone = true }
            return admission
        }
        guard head.path.hasPrefix("/uploads/") == false else { return admission }
        guard let length = head.fields.number("Upload-Length") else { return admission }
        let isDraft = head.fields["Upload-Draft-Interop-Version"] == "8"
        guard isDraft || head.fields["Tus-Resumable"] == "1.0.0", behavior.supports else { return admission }
        resources.append(Resource(length: length, isDraft: isDraft))
        let id = resources.count - 1
        admission.id = id
        if isDraft, behavior.sendsInterims { admission.interims = interims(of: id) }
        return admission
    }

    private func interims(of id: Int) -> [HTTPFields] {
        var fields: HTTPFields = ["Upload-Draft-Interop-Version": behavior.interopVersion]
        fields[.location] = location(of: id)
        if let limit = behavior.limitField { fields["Upload-Limit"] = limit }
        for field in behavior.fields { fields[field.name] = field.value }
        guard let second = behavior.secondLocation else { return [fields] }
        var other = fields
        other[.location] = second
        return [fields, other]
    }

    private func location(of id: Int) -> String { behavior.location.map { $0 + path(of: id) } ?? path(of: id) }

    /// Takes the content of a request, or its beginning. Returns `nil` if the connection breaks without a response.
    mutating func answer(_ head: Head, _ admission: Admission, _ content: Data, isCut: Bool) -> Answer? {
        if let id = admission.id ?? id(of: head.path) {
            let end = (head.fields.number("Upload-Offset") ?? 0) + content.count
            resources[id].received = max(resources[id].received, end)
        }
        switch admission.fault.kind {
        case .refuse(let status, let fields): return Answer(status: status, fields: fields)
        case .failAfterContent(let status, let fields):
            _ = take(head, admission, content, isCut: true)
            return isCut ? nil : Answer(status: status, fields: fields)
        case .none, .loseResponse, .forget, .cut:
            var answer = take(head, admission, content, isCut: isCut)
            if isCut || admission.fault == .loseResponse { return nil }
            if answer.status.kind == .successful, admission.id != nil {
                for field in behavior.fields { answer.fields[field.name] = field.value }
            }
            return answer
        }
    }

    private mutating func take(_ head: Head, _ admission: Admission, _ content: Data, isCut: Bool) -> Answer {
        guard let id = admission.id else {
            if head.path.hasPrefix("/uploads/") { return Answer(status: 404) }
            if head.fields.contains("Tus-Resumable") { return Answer(status: 412, fields: ["Tus-Version": "0.2"]) }
            if !isCut { plainUploads.append(content) }
            return Answer(status: 200, body: "plain")
        }
        if resources[id].isGone { return Answer(status: behavior.goneStatus) }
        guard head.path.hasPrefix("/uploads/") else { return made(id, head, content, isCut: isCut) }
        switch head.method {
        case .head: return offset(of: id)
        case .delete:
            resources[id].isGone = true
            return Answer(status: 204, fields: version(of: id))
        case .patch: return appended(id, head, content, isCut: isCut)
        default: return Answer(status: 405)
        }
    }

    private func version(of id: Int) -> HTTPFields { resources[id].isDraft ? [:] : ["Tus-Resumable": "1.0.0"] }

    private mutating func made(_ id: Int, _ head: Head, _ content: Data, isCut: Bool) -> Answer {
        if let most = behavior.maxAppendSize, content.count > most {
            resources[id].isGone = true
            return Answer(status: 413, fields: ["Upload-Limit": behavior.limitField ?? ""])
        }
        if !resources[id].isDraft, !content.isEmpty, !behavior.createsWithUpload {
            return Answer(status: 201, fields: version(of: id).adding(.location, location(of: id)))
        }
        // A later request has gone on with the upload, while this one was still arriving.
        guard resources[id].bytes.isEmpty, !resources[id].isComplete else { return Answer(status: 409) }
        resources[id].bytes += content
        if head.fields["Upload-Complete"] == "?1" { return isCut ? Answer(status: 500) : completed(id) }
        var fields = version(of: id)
        if !behavior.leavesOutLocation { fields[.location] = location(of: id) }
        if let limit = behavior.limitField, resources[id].isDraft { fields["Upload-Limit"] = limit }
        if !content.isEmpty || resources[id].isDraft { fields["Upload-Offset"] = "\(resources[id].bytes.count)" }
        if resources[id].isDraft { fields["Upload-Complete"] = "?0" }
        if !resources[id].isDraft, resources[id].bytes.count == resources[id].length { resources[id].isComplete = true }
        return Answer(status: 201, fields: fields)
    }

    private mutating func completed(_ id: Int) -> Answer {
        guard resources[id].bytes.count == resources[id].length else {
            return Answer(status: 400, fields: ["Upload-Complete": "?0"])
        }
        resources[id].isComplete = true
        return Answer(
            status: behavior.finalStatus,
            fields: ["Upload-Complete": "?1"],
            body: "received \(resources[id].length)"
        )
    }

    private mutating func offset(of id: Int) -> Answer {
        let resource = resources[id]
        var fields = version(of: id)
        let offset = behavior.lie.offset(of: resource)
        resources[id].named = max(resource.named, offset ?? 0)
        fields["Upload-Offset"] = offset.map { "\($0)" }
        fields["Upload-Length"] = "\(behavior.lie == .anotherLength ? resource.length + 1 : resource.length)"
        fields[.cacheControl] = "no-store"
        if resource.isDraft {
            fields["Upload-Complete"] = resource.isComplete || behavior.lie == .completesEarly ? "?1" : "?0"
            if let limit = behavior.limitField { fields["Upload-Limit"] = limit }
        }
        return Answer(status: resource.isDraft ? 204 : 200, fields: fields)
    }

    private mutating func appended(_ id: Int, _ head: Head, _ content: Data, isCut: Bool) -> Answer {
        let isDraft = resources[id].isDraft
        let type = isDraft ? "application/partial-upload" : "application/offset+octet-stream"
        guard head.fields[.contentType] == type else { return Answer(status: 415) }
        let (isLast, have) = (head.fields["Upload-Complete"] == "?1", resources[id].bytes.count)
        var fields = version(of: id)
        if resources[id].isComplete, isLast, content.isEmpty, behavior.repeatsFinalResponse { return completed(id) }
        guard head.fields.number("Upload-Offset") == have || behavior.lie.ignoresOffsets, !resources[id].isComplete
        else {
            if isDraft {
                fields["Upload-Offset"] = "\(have)"
                fields["Upload-Complete"] = "?0"
            }
            return Answer(status: 409, fields: fields)
        }
        if let most = behavior.maxAppendSize, content.count > most {
            return Answer(status: 413, fields: ["Upload-Limit": behavior.limitField ?? ""])
        }
        resources[id].bytes += content
        if isDraft, isLast { return isCut ? Answer(status: 500) : completed(id) }
        if isDraft { fields["Upload-Complete"] = behavior.lie == .completesEarly ? "?1" : "?0" }
        if !isDraft, resources[id].bytes.count == resources[id].length { resources[id].isComplete = true }
        resources[id].named = max(resources[id].named, resources[id].bytes.count)
        fields["Upload-Offset"] = "\(resources[id].bytes.count)"
        return Answer(status: 204, fields: fields)
    }
}

extension HTTPFields {
    fileprivate func number(_ name: HTTPField.Name) -> Int? { self[name].flatMap { Int($0) } }

    fileprivate func adding(_ name: HTTPField.Name, _ value: String) -> HTTPFields {
        var copy = self
        copy[name] = value
        return copy
    }
}
