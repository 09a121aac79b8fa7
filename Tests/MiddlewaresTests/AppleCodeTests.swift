// The sources of the package are not on a device.
#if os(Linux) || os(macOS)
import Foundation
import InterceptorsTestSupport
import Testing

/// Statements that only Apple's systems run. Their text is checked, because the decisions around them are tested elsewhere and no
/// test on another system sees one that is missing.
@Suite(.againstHanging) struct AppleCodeTests {
    private static let transfers = "Sources/Transfers/Background/"
    private static let images = "Sources/Images/"

    /// The text of a file without lines that are comments, and with one space for each run of white space.
    private static func text(of path: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
            .split(separator: "\n").filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }.joined(separator: " ")
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test(arguments: [
        // The session tries again after 60 seconds of silence, and so does each of its requests.
        (transfers + "SystemSession.swift", "= transport.configured(.background(withIdentifier: identifier))"),
        (transfers + "SystemSession.swift", "let outgoing = try transport.urlRequest(for: request)"),
        // An error of the system has its meaning, and each transfer has an end when the session ends.
        (transfers + "SystemSession.swift", "error.map { SystemFailure.failure($0, hasHead: response != nil) }"),
        (transfers + "SystemSession.swift", "didBecomeInvalidWithError error: (any Error)?) { isValid.withLock"),
        (transfers + "SystemSession.swift", "receive(.invalidated(error.map"),
        // A device with tvOS denies the support folder.
        (transfers + "TransferFolder.swift", "#if os(tvOS) private static let isTV = true #else"),
        (transfers + "TransferFolder.swift", "for: parent(onTV: isTV)"),
        // Restored on another device, a record would send its upload once more.
        (transfers + "TransferFolder.swift", "isExcludedFromBackup = true try? folder.setResourceValues(values)"),
        (transfers + "TransferFolder.swift", "attributes: attributes) } setAttributes()"),
        // A volume without protection classes keeps transfers and responses as well.
        (transfers + "TransferFolder.swift", "try? FileManager.default.setAttributes( [.protectionKey:"),
        (
            "Sources/Middlewares/Cache/Store/Disk/DiskProtection.swift",
            "try? FileManager.default.setAttributes([.protectionKey: type]"
        ),
        (
            "Sources/Middlewares/Cache/Store/Disk/DiskProtection.swift",
            "values.isExcludedFromBackup = isExcludedFromBackup"
        ),
        // A small file can decode to gigabytes, and an image without a bitmap has a cost.
        (images + "UIImage+Decoding.swift", "try image.pixels.check(limit: pixelLimit) return image"),
        (images + "UIImage+Decoding.swift", "try UIImage.undecoded(content, scale: 1, pixelLimit: pixelLimit)"),
        (images + "UIImage+Decoding.swift", "full.pixels.fitting(longestSide: longestSide)"),
        (images + "UIImage+Decoding.swift", "full.preparingThumbnail(of: size)"),
        (images + "UIImage+Decoding.swift", "?? pixels.bytes"),
        (images + "UIImageView+Images.swift", "try UIImage.undecoded(content, scale: scale, pixelLimit: pixelLimit)"),
        // Each of Apple's two loaders keeps the promises of the transport.
        ("Tests/TransportTests/TransportConformanceTests.swift", "arguments: Self.rulesOfURLSession, [true, false])"),
        (
            "Tests/TransportTests/TransportConformanceTests.swift",
            "URLSessionTransport(time: time, configure: { $0.usesClassicLoadingMode = isClassic })"
        ),
    ])
    func statementOfApplesSystemsIsThere(path: String, statement: String) throws {
        #expect(try Self.text(of: path).contains(statement), "\(path) lacks \(statement)")
    }

    /// The system's resume data holds the request with its credential, and stays on the disk.
    @Test func noModuleUsesResumeData() throws {
        let names = try AppleSource.anySystem.names(in: Repository.root.appending(path: "Sources"))
        let resuming = [
            "withResumeData", "downloadTaskResumeData", "NSURLSessionDownloadTaskResumeData", "byProducingResumeData",
        ]
        #expect(names.isDisjoint(with: resuming))
    }

    /// With two sessions, an app that ignores the identifier waits for the wrong one, and never calls the system's closure.
    @Test func eachExampleOfARelaunchComparesTheIdentifier() throws {
        var examples = 0
        for folder in ["Sources", "Examples", "Docs"] {
            let root = Repository.root.appending(path: folder)
            let names = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
            for name in names where name.hasSuffix(".md") || name.hasSuffix(".swift") {
                if name.contains(".build/") { continue }
                let text = try String(contentsOf: root.appending(path: name), encoding: .utf8)
                for example in text.components(separatedBy: "handleEventsForBackgroundURLSession ").dropFirst() {
                    examples += 1
                    let call = try #require(example.firstRange(of: "eventsDelivered()"))
                    #expect(example[..<call.lowerBound].contains("identifier =="), "\(folder)/\(name)")
                }
            }
        }
        #expect(examples >= 2)
    }

    /// Xcode and package indexes build the package whole, for every system that the manifest names.
    @Test func hostedWorkflowBuildsTheWholePackageForEachSystem() throws {
        let workflow = try Self.text(of: ".github/workflows/ci.yml")
        let loop = try #require(workflow.firstMatch(of: /for system in ([^;]+); do (.*?) done/))
        for system in ["iOS", "tvOS", "watchOS", "visionOS", "Mac Catalyst"] {
            #expect(loop.1.contains(system))
        }
        #expect(loop.2.contains("xcodebuild build-for-testing") && loop.2.contains("-scheme Interceptors-Package"))
    }
}
#endif
