internal import Foundation
internal import InterceptorsCore

/// The home origin of a folder: its files are in no folder of an origin, because they answer on any host.
///
/// The first recorder of the folder writes it into the file `.home`. All later ones read it, so a file's name doesn't depend on
/// which request comes first.
enum FolderHome {
    static let path = [".home"]
    private static let limit = 1 << 10

    /// Reads the home origin; `nil` if no recorder has written it.
    ///
    /// - Throws: `TransportError` with the code `unreadableFile` if the file isn't one line with an origin.
    static func read(in folder: FolderPath) throws -> OriginText? {
        let bytes: Data
        do {
            bytes = try folder.read(path, upTo: limit)
        } catch let error as FolderPath.Failure where error.isMissing {
            return nil
        } catch {
            let reason = (error as? FolderPath.Failure)?.reason ?? ErrorText.line(error)
            throw broken(folder, "It can't be read: \(reason)", error)
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let origin = OriginText(text: text) else {
            throw broken(folder, "It isn't one line with an origin, such as https://api.example.com.")
        }
        return origin
    }

    /// The home origin of a folder that is recorded. A folder without one gets `first`.
    static func origin(of folder: FolderPath, orElse first: OriginText, now: Date) throws -> OriginText {
        if let home = try read(in: folder) { return home }
        let temporary = try folder.writeTemporary(Data("\(first.text)\n".utf8), beside: path, now: now)
        defer { try? folder.perform(.remove(temporary)) }
        // If two processes do this at once, one links its file. Both then use the folder's origin.
        try folder.link(temporary, to: path[0])
        return try read(in: folder) ?? first
    }

    private static func broken(
        _ folder: FolderPath,
        _ reason: String,
        _ error: (any Error)? = nil
    ) -> TransportError {
        let message = "The file .home in \(folder.url.lastPathComponent) doesn't tell the home origin. \(reason)"
        return TransportError(.unreadableFile, message + " Remove it.", underlying: error)
    }
}
