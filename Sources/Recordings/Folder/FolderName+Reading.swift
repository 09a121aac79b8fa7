internal import Foundation
internal import InterceptorsCore
internal import InterceptorsSyntax

extension FolderName {
    /// A file that is for no request.
    struct Meaningless: Error {
        /// The reason, as the end of a sentence that begins with the file.
        let reason: String
    }

    /// The name that a file has, in the spelling of a recorder: `getUser.json` and `get^user.json` have one name.
    init(of path: [String], _ file: AnswerFileName) throws(Meaningless) {
        var folders = path.dropLast()
        let origin = folders.first.flatMap { Self.isOrigin($0) ? $0 : nil }
        if origin != nil { folders = folders.dropFirst() }
        guard let method = folders.popFirst() else {
            throw Meaningless(reason: " isn't in the folder of a method, such as GET.")
        }
        guard method == Self.anything || Self.method(of: method) != nil else {
            throw Meaningless(reason: ": its first folder is no method; methods are in capitals, such as GET.")
        }
        let segments = folders.map(Self.recordedFolder) + [Self.recordedBase(file.base)]
        self.init(origin: origin, methodFolder: method, segments: segments, body: file.body)
    }

    /// The method of a folder; `nil` for any method and for other folders.
    static func method(of folder: String) -> HTTPRequest.Method? {
        guard let method = HTTPRequest.Method(rawValue: folder.removingPercentEncoding ?? "") else { return nil }
        return folder == Self.folder(of: method) ? method : nil
    }

    private static func recordedFolder(_ segment: String) -> String {
        unlessDigest(segment) { folderName(bytes(AnswerFileName.patternText($0))) }
    }

    private static func recordedBase(_ base: String) -> String {
        unlessDigest(base) { base in
            guard let mark = base.firstIndex(of: "?") else {
                return lastName(bytes(AnswerFileName.patternText(base)), query: nil)
            }
            let query = AnswerFileName.patternText(base[base.index(after: mark)...])
            return lastName(bytes(AnswerFileName.patternText(base[..<mark])), query: bytes(query))
        }
    }

    /// The text of a pattern, in which a NUL stands for a `*`.
    private static func bytes(_ text: String) -> [UInt8] { text.utf8.map { $0 == UInt8(ascii: "*") ? 0 : $0 } }

    /// A name that contains a digest in place of a long text has no other spelling.
    private static func unlessDigest(_ name: String, _ recorded: (String) -> String) -> String {
        guard !name.contains("^^") else { return name }
        let result = recorded(name)
        return result.contains("^^") ? name : result
    }
}
