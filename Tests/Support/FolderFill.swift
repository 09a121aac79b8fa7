internal import Foundation

/// Answers that show whether they are whole: an item and a version determine the status, the fields and the content.
public struct FolderFill: Sendable, Equatable {
    /// The number of items.
    public static let items = 6

    /// The status.
    public var status: Int
    /// The value of the field `X-Mark`; `nil` for an answer without one, whose content is in a file without a head.
    public var mark: String?
    /// The content: the item, the version, and text of a length up to 4 kB or 530 kB.
    public var content: String

    /// Creates an answer as it was received.
    public init(status: Int, mark: String?, content: String) {
        (self.status, self.mark, self.content) = (status, mark, content)
    }

    /// Creates the answer of a version.
    public init(_ item: Int, _ version: Int) {
        let isEmpty = version % 5 == 0
        status = isEmpty ? 204 : 200 + version % 3
        mark = !isEmpty && version % 4 == 0 ? nil : "\(item) \(version)"
        let text = CacheFill.body(item, UInt64(version)).base64EncodedString()
        content = isEmpty ? "" : "\(item) \(version) \(text)"
    }

    /// The version of a whole answer for an item; `nil` if the answer isn't whole.
    public func version(of item: Int) -> Int? {
        let words = (mark ?? content).split(separator: " ")
        guard words.count > 1, let version = Int(words[1]), self == Self(item, version) else { return nil }
        return version
    }

    /// The type of the content: versions differ in the extensions of their files.
    public static func type(_ version: Int) -> String { version % 2 == 0 ? "text/plain" : "text/csv" }
}
