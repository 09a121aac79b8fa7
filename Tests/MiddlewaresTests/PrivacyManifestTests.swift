// The sources of the package are not on a device.
#if os(Linux) || os(macOS)
import Foundation
import InterceptorsTestSupport
import Testing

/// The privacy manifests that the App Store reads, against the symbols in the sources of each module.
@Suite(.againstHanging) struct PrivacyManifestTests {
    /// The modules of an app. The kits for tests and the programs never reach the App Store.
    private static let modules: [URL] = {
        let sources = Repository.root.appending(path: "Sources")
        let folders = try? FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)
        return (folders ?? []).filter { folder in
            let name = folder.lastPathComponent
            return !name.hasPrefix(".") && !name.hasSuffix("Testing") && name != "mockserver"
        }
    }()

    /// An upload to the App Store is refused (ITMS-91053) if a module uses such a symbol without a manifest that names its
    /// category.
    @Test func manifestOfEachModuleNamesTheCategoriesThatItsSourcesUse() throws {
        #expect(Self.modules.count >= 10)
        for module in Self.modules {
            let used = try AppleSource.anySystem.names(in: module)
            let categories = RequiredReasons.categories.filter { !$0.value.isDisjoint(with: used) }
            let declared = try Manifest.ofModule(module)?.accessed.map(\.type) ?? []
            let symbols = categories.mapValues { $0.intersection(used).sorted() }
            #expect(Set(declared) == Set(categories.keys), "\(module.lastPathComponent) uses \(symbols)")
        }
    }

    @Test func manifestsGiveReasonsAndTrackNobody() throws {
        let manifests = try Self.modules.compactMap { try Manifest.ofModule($0) }
        #expect(!manifests.isEmpty)
        for manifest in manifests {
            #expect(!manifest.isTracking && manifest.trackingDomains.isEmpty)
            // The times and sizes of files in the app's own container.
            #expect(manifest.accessed.map(\.type) == [RequiredReasons.fileTimes])
            #expect(manifest.accessed.map(\.reasons) == [["C617.1"]])
        }
    }
}

/// The symbols for which Apple requires a reason: "Describing use of required reason API" in Apple's documentation.
private enum RequiredReasons {
    static let fileTimes = "NSPrivacyAccessedAPICategoryFileTimestamp"

    static let categories: [String: Set<String>] = [
        fileTimes: [
            "creationDate", "creationDateKey", "modificationDate", "fileModificationDate", "contentModificationDate",
            "contentModificationDateKey", "getattrlist", "getattrlistbulk", "fgetattrlist", "getattrlistat", "stat",
            "fstat", "fstatat", "lstat",
        ],
        "NSPrivacyAccessedAPICategorySystemBootTime": ["systemUptime", "mach_absolute_time"],
        "NSPrivacyAccessedAPICategoryDiskSpace": [
            "volumeAvailableCapacity", "volumeAvailableCapacityKey", "volumeAvailableCapacityForImportantUsage",
            "volumeAvailableCapacityForImportantUsageKey", "volumeAvailableCapacityForOpportunisticUsage",
            "volumeAvailableCapacityForOpportunisticUsageKey", "volumeTotalCapacity", "volumeTotalCapacityKey",
            "systemFreeSize", "systemSize", "statfs", "fstatfs", "statvfs", "fstatvfs",
        ],
        "NSPrivacyAccessedAPICategoryActiveKeyboards": ["activeInputModes"],
        "NSPrivacyAccessedAPICategoryUserDefaults": ["UserDefaults", "NSUserDefaults", "AppStorage"],
    ]
}

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

    /// `nil` for a module without a manifest.
    static func ofModule(_ folder: URL) throws -> Self? {
        let file = folder.appending(path: "PrivacyInfo.xcprivacy")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try PropertyListDecoder().decode(Self.self, from: try Data(contentsOf: file))
    }
}
#endif
