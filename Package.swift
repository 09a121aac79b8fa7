// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// Apple's App Store asks for the privacy manifest beside the code; elsewhere nobody reads it.
#if os(Linux)
let (privacyManifest, excludedManifest): ([Resource], [String]) = ([], ["PrivacyInfo.xcprivacy"])
#else
let (privacyManifest, excludedManifest): ([Resource], [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#endif

let package = Package(
    name: "Interceptors",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Transport", targets: ["Transport"]),
        .library(name: "Interceptors", targets: ["Interceptors"]),
        .library(name: "Middlewares", targets: ["Middlewares"]),
        .library(name: "Images", targets: ["Images"]),
        .library(name: "BackgroundTransfers", targets: ["BackgroundTransfers"]),
        .library(name: "Recordings", targets: ["Recordings"]),
        .library(name: "TransportTesting", targets: ["TransportTesting"]),
        .library(name: "MiddlewaresTesting", targets: ["MiddlewaresTesting"]),
        .executable(name: "mockserver", targets: ["mockserver"]),
    ],
    targets: [
        .target(name: "CCurl"),
        .target(name: "COpenSSL"),
        .target(name: "CFiles"),
        .target(name: "CMemoryPressure"),
        .target(name: "CVectors"),
        .target(name: "CBrotli"),
        .target(name: "CZstd"),
        .target(
            name: "CZlib",
            linkerSettings: [
                .linkedLibrary("z", .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS]))
            ]
        ),
        .target(name: "HTTPSyntax", swiftSettings: settings),
        .target(
            name: "Transport",
            dependencies: [
                "HTTPSyntax", "CFiles", "CZlib",
                .target(name: "CCurl", condition: .when(platforms: [.linux])),
                .target(name: "COpenSSL", condition: .when(platforms: [.linux])),
                .target(name: "CBrotli", condition: .when(platforms: [.linux])),
                .target(name: "CZstd", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings
        ),
        .target(name: "Interceptors", dependencies: ["Transport", "HTTPSyntax"], swiftSettings: settings),
        .target(
            name: "Middlewares",
            dependencies: ["Interceptors", "HTTPSyntax", "CFiles", "CMemoryPressure", "CVectors", "CZlib"],
            exclude: excludedManifest,
            resources: privacyManifest,
            swiftSettings: settings
        ),
        // Apart from Middlewares, so that an app without images in cells doesn't link it.
        .target(name: "Images", dependencies: ["Middlewares"], swiftSettings: settings),
        // Apart from Middlewares, so that an app without background transfers doesn't link it.
        .target(name: "BackgroundTransfers", dependencies: ["Middlewares", "HTTPSyntax"], swiftSettings: settings),
        // Apart from Interceptors, so that an app without recordings and files that answer doesn't link them.
        .target(name: "Recordings", dependencies: ["Interceptors", "HTTPSyntax"], swiftSettings: settings),
        .target(
            name: "TransportTesting",
            dependencies: [
                "Interceptors", "Recordings", "HTTPSyntax",
                .target(name: "COpenSSL", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings
        ),
        // Apart from TransportTesting, whose tests and users needn't build the middlewares.
        .target(
            name: "MiddlewaresTesting",
            dependencies: ["Middlewares", "TransportTesting"],
            swiftSettings: settings
        ),

        .executableTarget(name: "mockserver", dependencies: ["TransportTesting"], swiftSettings: settings),

        .executableTarget(
            name: "Quickstart",
            dependencies: ["Middlewares", "TransportTesting"],
            path: "Examples/Quickstart",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Resilience",
            dependencies: ["Middlewares", "TransportTesting"],
            path: "Examples/Resilience",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Caching",
            dependencies: ["Middlewares", "TransportTesting"],
            path: "Examples/Caching",
            swiftSettings: settings
        ),

        .executableTarget(
            name: "Offline",
            dependencies: ["Middlewares", "Recordings", "TransportTesting"],
            path: "Examples/Offline",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Streams",
            dependencies: ["Middlewares", "TransportTesting"],
            path: "Examples/Streams",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Posters",
            dependencies: ["Images", "Middlewares", "TransportTesting"],
            path: "Examples/Posters",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Downloads",
            dependencies: ["Middlewares", "TransportTesting"],
            path: "Examples/Downloads",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Uploads",
            dependencies: ["Middlewares", "TransportTesting"],
            path: "Examples/Uploads",
            swiftSettings: settings
        ),

        .executableTarget(
            name: "Background",
            dependencies: ["BackgroundTransfers", "TransportTesting"],
            path: "Examples/Background",
            swiftSettings: settings
        ),

        // The interceptors are a library, so that tests can check them.
        .target(
            name: "ExampleInterceptors",
            dependencies: ["Middlewares"],
            path: "Examples/Interceptors/Interceptors",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "WritingInterceptors",
            dependencies: ["ExampleInterceptors", "Middlewares"],
            path: "Examples/Interceptors/Program",
            swiftSettings: settings
        ),

        .target(name: "TestSupport", path: "Tests/Support", swiftSettings: settings),
        .executableTarget(
            name: "LoadProbe",
            dependencies: ["Interceptors", "Transport", "TestSupport"],
            path: "Tests/LoadProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "HTTPSyntaxTests",
            dependencies: ["HTTPSyntax", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TransportTests",
            dependencies: ["Transport", "HTTPSyntax", "TransportTesting", "TestSupport"],
            swiftSettings: settings
        ),
        // The tests of downloads start copies of this program, kill them, and let them share a file.
        .executableTarget(
            name: "DownloadProcess",
            dependencies: ["Interceptors", "TestSupport"],
            path: "Tests/DownloadProcess",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "UploadProcess",
            dependencies: ["Interceptors", "TestSupport"],
            path: "Tests/UploadProcess",
            swiftSettings: settings
        ),
        .testTarget(
            name: "InterceptorsTests",
            dependencies: [
                "Interceptors", "HTTPSyntax", "TransportTesting", "TestSupport", "DownloadProcess", "UploadProcess",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ImagesTests",
            dependencies: ["Images", "TransportTesting", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "BackgroundTransfersTests",
            dependencies: ["BackgroundTransfers", "Recordings", "TransportTesting", "TestSupport"],
            swiftSettings: settings
        ),
        // The tests of recordings start copies of this program, kill them, and let them share files.
        .executableTarget(
            name: "RecordingProcess",
            dependencies: ["Recordings", "TestSupport"],
            path: "Tests/RecordingProcess",
            swiftSettings: settings
        ),
        .testTarget(
            name: "RecordingsTests",
            dependencies: [
                "Recordings", "Middlewares", "TransportTesting", "TestSupport", "RecordingProcess", "mockserver",
                "Offline",
            ],
            swiftSettings: settings
        ),
        // The tests of the disk cache start copies of this program, kill them, and let them share a directory.
        .executableTarget(
            name: "CacheProcess",
            dependencies: ["Middlewares", "TestSupport"],
            path: "Tests/CacheProcess",
            swiftSettings: settings
        ),
        // The test of the system's network path runs this program in a network namespace.
        .executableTarget(
            name: "NetworkProcess",
            dependencies: ["Middlewares", "TransportTesting", "TestSupport"],
            path: "Tests/NetworkProcess",
            swiftSettings: settings
        ),
        .testTarget(
            name: "MiddlewaresTests",
            dependencies: [
                "Middlewares", "HTTPSyntax", "TransportTesting", "MiddlewaresTesting", "TestSupport", "CacheProcess",
                "NetworkProcess", "ExampleInterceptors", "BackgroundTransfers",
            ],
            swiftSettings: settings
        ),
        // A new app in Xcode has this setting: declarations belong to the main actor unless they say otherwise.
        .testTarget(
            name: "MainActorTests",
            dependencies: ["BackgroundTransfers", "Images", "Middlewares"],
            swiftSettings: settings + [.defaultIsolation(MainActor.self)]
        ),
        .testTarget(
            name: "TransportTestingTests",
            dependencies: ["TransportTesting", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: ["Middlewares", "TransportTesting", "TestSupport", "LoadProbe"],
            swiftSettings: settings
        ),
    ]
)
