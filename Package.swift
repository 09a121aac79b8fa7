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

// Only URLSession needs FoundationNetworking, which takes a Linux program milliseconds and megabytes to load. So it is a target of its
// own there; the platform's transport uses it if it is linked and libcurl is missing.
#if os(Linux)
let (urlSession, excludedSession) = ("InterceptorsURLSession", ["URLSession"])
let urlSessionTargets: [Target] = [
    .target(
        name: urlSession,
        dependencies: ["InterceptorsTransport", "InterceptorsSyntax"],
        path: "Sources/Transport/URLSession",
        swiftSettings: settings
    )
]
#else
let (urlSession, excludedSession, urlSessionTargets) = ("InterceptorsTransport", [String](), [Target]())
#endif

// Names of targets must be unique in the graph of a program's packages, so they all begin with Interceptors. The folders have short names.
let package = Package(
    name: "Interceptors",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        // Chain, client, transports and the everyday interceptors: an app's one import.
        .library(name: "Interceptors", targets: ["Interceptors"]),
        // Interceptors that fewer apps need: passwords and signatures; circuit breaker, hedging, limits and shared exchanges.
        .library(name: "InterceptorsAuthentication", targets: ["InterceptorsAuthentication"]),
        .library(name: "InterceptorsTraffic", targets: ["InterceptorsTraffic"]),
        .library(name: "InterceptorsTransfers", targets: ["InterceptorsTransfers"]),
        .library(name: "InterceptorsInsight", targets: ["InterceptorsInsight"]),
        .library(name: "InterceptorsImages", targets: ["InterceptorsImages"]),
        .library(name: "InterceptorsRecordings", targets: ["InterceptorsRecordings"]),
        .library(name: "InterceptorsTesting", targets: ["InterceptorsTesting"]),
        // Needs Swift Testing, which programs that use InterceptorsTesting don't have.
        .library(name: "InterceptorsTestTraits", targets: ["InterceptorsTestTraits"]),
        // The transport that answers in memory, for previews. Recordings and Testing have it already.
        .library(name: "InterceptorsStubs", targets: ["InterceptorsStubs"]),
        // For programs that must be small: messages and transports, and with InterceptorsCore chain and client without ready-made
        // interceptors. A linker keeps all of a module, used or not.
        .library(name: "InterceptorsTransport", targets: ["InterceptorsTransport"]),
        .library(name: "InterceptorsCore", targets: ["InterceptorsCore"]),
        .library(name: "InterceptorsURLSession", targets: [urlSession]),
        .executable(name: "mockserver", targets: ["InterceptorsMockServer"]),
    ],
    targets: [
        .target(name: "CInterceptorsCurl", path: "Sources/CCurl"),
        .target(name: "CInterceptorsOpenSSL", path: "Sources/COpenSSL"),
        .target(name: "CInterceptorsFiles", path: "Sources/CFiles"),
        .target(name: "CInterceptorsMemoryPressure", path: "Sources/CMemoryPressure"),
        .target(name: "CInterceptorsVectors", path: "Sources/CVectors"),
        .target(name: "CInterceptorsBrotli", path: "Sources/CBrotli"),
        .target(name: "CInterceptorsZstd", path: "Sources/CZstd"),
        .target(
            name: "CInterceptorsZlib",
            path: "Sources/CZlib",
            linkerSettings: [
                .linkedLibrary("z", .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS]))
            ]
        ),
        .target(name: "InterceptorsSyntax", path: "Sources/HTTPSyntax", swiftSettings: settings),
        .target(
            name: "InterceptorsTransport",
            dependencies: [
                "InterceptorsSyntax", "CInterceptorsFiles", "CInterceptorsZlib",
                .target(name: "CInterceptorsCurl", condition: .when(platforms: [.linux])),
                .target(name: "CInterceptorsOpenSSL", condition: .when(platforms: [.linux])),
                .target(name: "CInterceptorsBrotli", condition: .when(platforms: [.linux])),
                .target(name: "CInterceptorsZstd", condition: .when(platforms: [.linux])),
            ],
            path: "Sources/Transport",
            exclude: excludedSession,
            swiftSettings: settings
        ),
        .target(
            name: "InterceptorsStubs",
            dependencies: ["InterceptorsTransport", "InterceptorsSyntax"],
            path: "Sources/Stubs",
            swiftSettings: settings
        ),
        .target(
            name: "InterceptorsCore",
            dependencies: ["InterceptorsTransport", "InterceptorsSyntax"],
            path: "Sources/Interceptors",
            swiftSettings: settings
        ),
        .target(
            name: "InterceptorsMiddlewares",
            dependencies: [
                "InterceptorsCore", "InterceptorsSyntax", "CInterceptorsFiles", "CInterceptorsMemoryPressure",
                "CInterceptorsVectors", "CInterceptorsZlib",
            ],
            path: "Sources/Middlewares",
            exclude: excludedManifest,
            resources: privacyManifest,
            swiftSettings: settings
        ),
        .target(
            name: "Interceptors",
            dependencies: ["InterceptorsMiddlewares"],
            path: "Sources/Umbrella",
            swiftSettings: settings
        ),

        // Each of these modules is a separate product, so that an app links only those that it uses.
        .target(
            name: "InterceptorsAuthentication",
            dependencies: ["Interceptors", "InterceptorsSyntax"],
            path: "Sources/Authentication",
            swiftSettings: settings
        ),
        .target(
            name: "InterceptorsTraffic",
            dependencies: ["Interceptors", "InterceptorsSyntax"],
            path: "Sources/Traffic",
            swiftSettings: settings
        ),
        .target(
            name: "InterceptorsTransfers",
            dependencies: ["Interceptors", "InterceptorsSyntax", "CInterceptorsFiles", .byName(name: urlSession)],
            path: "Sources/Transfers",
            swiftSettings: settings
        ),
        .target(
            name: "InterceptorsArchives",
            dependencies: ["InterceptorsSyntax"],
            path: "Sources/Archives",
            swiftSettings: settings
        ),
        .target(
            name: "InterceptorsInsight",
            dependencies: ["Interceptors", "InterceptorsArchives", "InterceptorsSyntax"],
            path: "Sources/Insight",
            swiftSettings: settings
        ),
        .target(
            name: "InterceptorsImages",
            dependencies: ["Interceptors"],
            path: "Sources/Images",
            swiftSettings: settings
        ),
        .target(
            name: "InterceptorsRecordings",
            dependencies: ["Interceptors", "InterceptorsStubs", "InterceptorsArchives", "InterceptorsSyntax"],
            path: "Sources/Recordings",
            swiftSettings: settings
        ),
        .target(
            name: "InterceptorsTestTraits",
            dependencies: ["InterceptorsRecordings"],
            path: "Sources/TestTraits",
            swiftSettings: settings
        ),
        .target(
            name: "InterceptorsTesting",
            dependencies: [
                "Interceptors", "InterceptorsInsight", "InterceptorsRecordings", "InterceptorsStubs",
                "InterceptorsSyntax",
                .target(name: "CInterceptorsOpenSSL", condition: .when(platforms: [.linux])),
            ],
            path: "Sources/Testing",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "InterceptorsMockServer",
            dependencies: ["InterceptorsTesting"],
            path: "Sources/mockserver",
            swiftSettings: settings
        ),

        .target(name: "InterceptorsTestSupport", path: "Tests/Support", swiftSettings: settings),
        // Tests start copies of these programs, kill them, limit their memory, and let them share files.
        .executableTarget(
            name: "InterceptorsLoadProbe",
            dependencies: ["InterceptorsTransfers", "InterceptorsTransport", "InterceptorsTestSupport"],
            path: "Tests/LoadProbe",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "InterceptorsDownloadProcess",
            dependencies: ["InterceptorsTransfers", "InterceptorsTestSupport"],
            path: "Tests/DownloadProcess",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "InterceptorsUploadProcess",
            dependencies: ["InterceptorsTransfers", "InterceptorsTestSupport"],
            path: "Tests/UploadProcess",
            swiftSettings: settings
        ),
        // The example of uploads has links to two of its files.
        .target(
            name: "InterceptorsUploadServer",
            dependencies: ["Interceptors", "InterceptorsTesting"],
            path: "Tests/UploadServer",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "InterceptorsRecordingProcess",
            dependencies: ["InterceptorsRecordings", "InterceptorsTestSupport"],
            path: "Tests/RecordingProcess",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "InterceptorsCacheProcess",
            dependencies: ["Interceptors", "InterceptorsTestSupport"],
            path: "Tests/CacheProcess",
            swiftSettings: settings
        ),
        // The test of the system's network path runs this program in a network namespace.
        .executableTarget(
            name: "InterceptorsNetworkProcess",
            dependencies: ["Interceptors", "InterceptorsTesting", "InterceptorsTestSupport"],
            path: "Tests/NetworkProcess",
            swiftSettings: settings
        ),
        .testTarget(
            name: "HTTPSyntaxTests",
            dependencies: ["InterceptorsSyntax", "InterceptorsTestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TransportTests",
            dependencies: [
                .byName(name: urlSession), "InterceptorsSyntax", "InterceptorsTesting", "InterceptorsTestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "InterceptorsTests",
            dependencies: [
                "InterceptorsCore", "InterceptorsInsight", "InterceptorsSyntax", "InterceptorsTesting",
                "InterceptorsTestSupport", .byName(name: urlSession),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MiddlewaresTests",
            dependencies: [
                "Interceptors", "InterceptorsAuthentication", "InterceptorsTraffic", "InterceptorsMiddlewares",
                "InterceptorsSyntax", "InterceptorsTesting",
                "InterceptorsTestSupport", "InterceptorsCacheProcess", "InterceptorsNetworkProcess",
                "InterceptorsInsight", "InterceptorsTransfers", "InterceptorsUploadServer", .byName(name: urlSession),
            ],
            swiftSettings: settings
        ),
        // A new app in Xcode has this setting: declarations belong to the main actor unless they say otherwise.
        .testTarget(
            name: "MainActorTests",
            dependencies: ["Interceptors", "InterceptorsImages", "InterceptorsStubs", "InterceptorsTransfers"],
            swiftSettings: settings + [.defaultIsolation(MainActor.self)]
        ),
        .testTarget(
            name: "TransfersTests",
            dependencies: [
                "Interceptors", "InterceptorsTraffic", "InterceptorsTransfers", "InterceptorsRecordings",
                "InterceptorsSyntax", "InterceptorsTesting", "InterceptorsTestSupport", "InterceptorsDownloadProcess",
                "InterceptorsUploadProcess", "InterceptorsUploadServer",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "InsightTests",
            dependencies: [
                "Interceptors", "InterceptorsInsight", "InterceptorsArchives", "InterceptorsSyntax",
                "InterceptorsTesting", "InterceptorsTestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ImagesTests",
            dependencies: ["InterceptorsImages", "InterceptorsTesting", "InterceptorsTestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RecordingsTests",
            dependencies: [
                "Interceptors", "InterceptorsInsight", "InterceptorsRecordings", "InterceptorsArchives",
                "InterceptorsTesting", "InterceptorsTestTraits", "InterceptorsTestSupport",
                "InterceptorsRecordingProcess", "InterceptorsMockServer",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TestingTests",
            dependencies: [
                "Interceptors", "InterceptorsInsight", "InterceptorsTesting", "InterceptorsTestSupport",
                .byName(name: urlSession),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "Interceptors", "InterceptorsAuthentication", "InterceptorsTraffic", "InterceptorsInsight",
                "InterceptorsTransfers", "InterceptorsTesting", "InterceptorsTestSupport", "InterceptorsLoadProbe",
            ],
            swiftSettings: settings
        ),
    ] + urlSessionTargets
)
