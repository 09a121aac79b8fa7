internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

/// The facts about an upload in a response. A field with an invalid value counts as missing, as the draft says.
struct UploadAnswer: Sendable {
    let status: Int
    var offset: Int64?
    var isComplete: Bool?
    var length: Int64?
    var limits = UploadLimits()
    /// Whether the server says that it speaks the protocol in the version of the request.
    var hasVersion = false

    var isSuccess: Bool { 200..<300 ~= status }
}

extension UploadAnswer {
    /// - Parameters:
    ///   - status: the status of a response or an interim response.
    ///   - fields: its fields.
    ///   - kind: the protocol of the upload.
    init(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ kind: UploadProtocol) {
        self.status = status.code
        offset = fields.uploadCount(.uploadOffset)
        length = fields.uploadCount(.uploadLength)
        hasVersion = fields[kind.version.name] == kind.version.value
        switch kind {
        case .draft:
            isComplete = ["?1": true, "?0": false][fields.uploadItem(.uploadComplete)]
            limits = UploadLimits(draft: fields)
        case .tus: limits.maxSize = fields.uploadCount("Tus-Max-Size")
        }
    }

    /// Whether the `Location` of a successful response to the creating request names the upload. In the response to a whole upload it
    /// may name what the server has made of the content.
    func namesUpload(_ kind: UploadProtocol, isWhole: Bool) -> Bool {
        kind == .tus || isComplete == false || isComplete == nil && !isWhole
    }
}

/// The limits of a server. `nil` for a limit that the server hasn't named.
struct UploadLimits: Sendable, Equatable {
    /// The maximum number of bytes of the whole content.
    var maxSize: Int64?
    /// The maximum number of bytes in one request.
    var maxAppendSize: Int64?
    /// The minimum number of bytes in one request, except in the last.
    var minAppendSize: Int64?

    init() {}

    private static let names = ["max-size", "min-size", "max-append-size", "min-append-size"]

    /// The limits in `Upload-Limit`, a Dictionary (RFC 9651 §3.2). A known name with a value of another type makes the whole field
    /// invalid. A comma in a string counts as the end of a member, because no server puts a known name behind one.
    init(draft fields: HTTPFields) {
        var found: [String: Int64] = [:]
        for member in fields[values: "Upload-Limit"].joined(separator: ",").split(separator: ",") {
            // Parameters may hold a `=` too.
            let parts = member.item.split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = parts.first, Self.names.contains(name) else { continue }
            guard parts.count == 2, let value = parts[1].itemCount else { return }
            found[name] = value
        }
        maxSize = found["max-size"]
        // Without a byte in a request no upload would end.
        maxAppendSize = found["max-append-size"].flatMap { $0 > 0 ? $0 : nil }
        minAppendSize = found["min-append-size"]
    }

    /// Takes over the limits that a later response names.
    mutating func take(_ other: UploadLimits) {
        maxSize = other.maxSize ?? maxSize
        maxAppendSize = other.maxAppendSize ?? maxAppendSize
        minAppendSize = other.minAppendSize ?? minAppendSize
    }

    /// The part that begins at an offset.
    ///
    /// - Parameters:
    ///   - length: the number of bytes of the whole.
    ///   - most: the caller's own limit for a request, which gives way to the server's least size.
    func part(from offset: Int64, of length: Int64, upTo most: Int64) -> Range<Int64> {
        // Not empty, whatever the caller and the server say: empty requests would never end.
        let most = max(1, min(max(most, minAppendSize ?? 1), maxAppendSize ?? .max))
        return offset..<(length - offset > most ? offset + most : length)
    }
}

extension HTTPFields {
    /// The value of a field that is an Item. Several field lines aren't one Item.
    fileprivate func uploadItem(_ name: HTTPField.Name) -> String {
        let values = self[values: name]
        return values.count == 1 ? values[0].item : ""
    }

    fileprivate func uploadCount(_ name: HTTPField.Name) -> Int64? { uploadItem(name).itemCount }
}

extension StringProtocol {
    /// The value of an Item without its parameters (RFC 9651 §3.3).
    fileprivate var item: String { prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces) }

    /// The number of an Item, at most 15 digits (RFC 9651 §3.3.1); `nil` for a negative one and for any other value.
    fileprivate var itemCount: Int64? {
        let digits = item
        return digits.utf8.count <= 15 && digits.utf8.allSatisfy(ASCII.isDigit) ? Int64(digits) : nil
    }
}
