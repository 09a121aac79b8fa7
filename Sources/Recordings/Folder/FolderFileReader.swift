internal import Foundation
internal import InterceptorsCore
internal import InterceptorsSyntax

/// Reads the answers that the files of a folder hold.
struct FolderFileReader: Sendable {
    /// A file that says something impossible.
    struct Broken: Error {
        let message: String
    }

    /// Content up to this size is read at once; longer content is streamed.
    private static let readLimit = 4 << 20

    let folder: FolderPath
    let redaction: ExchangeRedaction

    /// The answer that a file holds.
    ///
    /// - Throws: `FolderPath.Failure`, or `Broken`.
    func answer(from file: FolderFile, to request: HTTPRequest, now: Date) throws -> StubAnswer {
        let head = try head(of: file)
        let status = try status(of: file, head)
        var fields = head.headerFields
        fields.removeFraming(keepingLength: file.content == nil && request.method == .head)
        // A recorded head says when it was sent: its dates keep their distances from now.
        if let date = fields[.date].flatMap({ HTTPDate.parse($0, now: CivilTime.seconds(now)) }) {
            fields = TimeShift(from: Date(timeIntervalSince1970: Double(date)), to: now).apply(to: fields)
        }
        guard let path = file.content else { return StubAnswer(status, fields, .body(.empty)).withUnknownTrailers }
        if let type = file.name.fileExtension.flatMap(FileExtension.contentType) {
            fields.addMissing([.contentType: type])
        }
        let body = try FolderBody.body(of: folder.open(path), readingUpTo: Self.readLimit)
        if request.method == .head, let length = body.length { fields[.contentLength] = String(length) }
        return StubAnswer(status, fields, .body(body)).withUnknownTrailers
    }

    /// Why a file can't be used, as a sentence; `nil` if it can.
    func problem(of file: FolderFile) -> String? {
        do {
            let head = try head(of: file)
            _ = try status(of: file, head)
            guard let path = file.content else { return nil }
            let handle = try folder.open(path)
            try handle.close()
            guard file.name.fileExtension == "json" else { return nil }
            let content = try folder.read(path, upTo: Self.readLimit)
            _ = try JSONSerialization.jsonObject(with: content, options: .fragmentsAllowed)
            return nil
        } catch let error as FolderPath.Failure {
            return error.code == EFBIG ? nil : "\(redaction.path(error.path)) can't be read: \(error.reason)"
        } catch let error as Broken {
            return error.message
        } catch {
            return "\(redaction.path(file.path)) isn't JSON."
        }
    }

    private func head(of file: FolderFile) throws -> FolderHead {
        guard let path = file.head else { return FolderHead() }
        do {
            return try FolderHead(folder.read(path, upTo: FolderHead.limit))
        } catch let error as FolderHead.Malformed {
            throw Broken(message: "\(redaction.path(path)), line \(error.line): \(error.reason)")
        }
    }

    private func status(of file: FolderFile, _ head: FolderHead) throws -> HTTPResponse.Status {
        let text = redaction.path(file.path)
        if let named = file.name.status, let inHead = head.status, named != inHead {
            throw Broken(message: "\(text) has the status \(named) in its name, and \(inHead) in its head.")
        }
        let code = file.name.status ?? head.status ?? 200
        guard code >= 200, let status = HTTPResponse.Status(code: code) else {
            throw Broken(message: "\(text): \(code) is no final status.")
        }
        return status
    }
}

extension ExchangeRedaction {
    /// The path of a file in a folder, as it may be printed: with a `*` in place of each secret.
    func path(_ path: [String]) -> String {
        let last = path.last ?? ""
        let base = AnswerFileName(last).base
        let text = url(FolderPath.text(path.dropLast() + [base])).replacing(Self.placeholder, with: FolderName.anything)
        return text + String(decoding: last.utf8.dropFirst(base.utf8.count), as: UTF8.self)
    }
}
