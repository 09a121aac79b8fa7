import Foundation
import InterceptorsCore
import InterceptorsSyntax
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers

@testable import InterceptorsTransport

extension Data {
    /// In hexadecimal.
    var sha256: String {
        get throws { try MessageDigest.of(self).hexadecimal }
    }

    /// Letters in a fixed order, which `first` shifts.
    static func letters(_ count: Int, from first: UInt8 = 0) -> Data {
        Data((0..<count).map { UInt8(ascii: "a") + (UInt8(truncatingIfNeeded: $0) &+ first) % 26 })
    }
}

extension TimeSource {
    /// No wait between two attempts.
    static var impatient: TimeSource { .leaping }
}

extension DownloadResuming {
    static var bothExtents: [Self] {
        [Self.withinCall.trying(time: .impatient), .acrossLaunches.trying(time: .impatient)]
    }

    /// Gives up after some responses without new bytes.
    static func withinCall(answers: Int) -> Self {
        var resuming = Self.withinCall.trying(time: .impatient)
        resuming.answerLimit = answers
        return resuming
    }
}

/// A destination in a folder that is empty at first.
struct Destination {
    let folder: TemporaryFolder
    let file: URL

    init(_ name: String = "film.mp4") throws {
        folder = try TemporaryFolder()
        file = folder.file(name)
    }

    /// The file's content; `nil` if the file doesn't exist.
    var content: Data? { try? Data(contentsOf: file) }
    /// The names in the folder.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []).sorted() }
}

extension StubTransport {
    /// The `Range` of each request.
    var ranges: [String?] { requests.map { $0.headers[.range] } }
}
