/// The file name in a `Content-Disposition` field (RFC 6266).
package enum ContentDisposition {
    /// The suggested name, without a path; `nil` without a name that a file can have.
    ///
    /// `filename*`, which names its encoding, takes precedence (§4.3). Of several parameters with one name, the first counts.
    package static func filename(in value: String) -> String? {
        var cursor = FieldCursor(value)
        _ = cursor.takeWhile { $0 != UInt8(ascii: ";") }
        let parameters = cursor.takeParameters()
        let extended = parameters.lazy.filter { $0.name == "filename*" }.compactMap { decoded($0.value) }.first
        return (extended ?? parameters.first { $0.name == "filename" }?.value).flatMap(withoutPath)
    }

    /// The text of an extended value, such as `UTF-8'en'%E2%82%AC` (RFC 8187 §3.2.1).
    private static func decoded(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let bytes = Array(parts[2].utf8).percentDecoded
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    /// The last component of a name, as a name that neither hides the file nor misleads a reader; `nil` if nothing is left, or if no
    /// file system takes the name (255 bytes).
    private static func withoutPath(_ name: String) -> String? {
        let last = name.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? []
        // Format characters include those that reverse the direction of what is shown.
        let hidden: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
        let shown = last.filter { !hidden.contains($0.properties.generalCategory) }
        let start = shown.drop { $0 == "." || $0.properties.isWhitespace }
        let end = start.reversed().drop { $0.properties.isWhitespace }.count
        let text = String(String.UnicodeScalarView(start.prefix(end)))
        return text.isEmpty || text.utf8.count > 255 ? nil : text
    }
}
