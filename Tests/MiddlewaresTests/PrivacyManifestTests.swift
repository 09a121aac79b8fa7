import Foundation
import TestSupport
import Testing

/// The privacy manifest that the App Store reads.
@Suite(.againstHanging) struct PrivacyManifestTests {
    private struct Manifest: Decodable {
        struct API: Decodable {
            let type: String
            let reasons: [String]

            enum CodingKeys: String, CodingKey {
                case type = "NSPrivacyAccessedAPIType"
                case reasons = "NSPrivacyAccessedAPITypeReasons"
            }
        }
        let isTracking: Bool
        let trackingDomains: [String]
        let accessed: [API]

        enum CodingKeys: String, CodingKey {
            case isTracking = "NSPrivacyTracking"
            case trackingDomains = "NSPrivacyTrackingDomains"
            case accessed = "NSPrivacyAccessedAPITypes"
        }
    }

    @Test func manifestGivesTheReasonForTheTimesOfFilesAndTracksNobody() throws {
        let file = Repository.root.appending(path: "Sources/Middlewares/PrivacyInfo.xcprivacy")
        let manifest = try PropertyListDecoder().decode(Manifest.self, from: try Data(contentsOf: file))
        #expect(!manifest.isTracking && manifest.trackingDomains.isEmpty)
        #expect(manifest.accessed.map(\.type) == ["NSPrivacyAccessedAPICategoryFileTimestamp"])
        #expect(manifest.accessed.map(\.reasons) == [["C617.1"]])
    }

    /// Each module that calls an API for which Apple requires a reason needs a manifest.
    @Test func noOtherModuleReadsTheTimesOfFiles() throws {
        let calls = ["stat(", "getattrlist", "contentModificationDate", "creationDate", ".modificationDate"]
        for module in ["Transport", "Interceptors"] {
            let folder = Repository.root.appending(path: "Sources/\(module)")
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                let text = try String(contentsOf: file, encoding: .utf8)
                    .split(separator: "\n").filter { !$0.contains("//") }.joined(separator: "\n")
                for call in calls { #expect(!text.contains(call), "\(call) in \(file.lastPathComponent)") }
            }
        }
    }
}
