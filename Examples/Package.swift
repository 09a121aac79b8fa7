// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func product(_ name: String) -> Target.Dependency { .product(name: name, package: "Interceptors") }

/// A program that needs the library, the test kit and perhaps another product.
func program(_ name: String, _ products: String...) -> Target {
    .executableTarget(
        name: name,
        dependencies: (["Interceptors", "InterceptorsTesting"] + products).map(product),
        path: name,
        swiftSettings: settings
    )
}

// A separate package, so that packages which depend on the library don't see the examples.
let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    dependencies: [.package(name: "Interceptors", path: "..")],
    targets: [
        program("Quickstart", "InterceptorsInsight"),
        program("Resilience"),
        program("Caching"),
        program("Offline", "InterceptorsRecordings"),
        program("Streams", "InterceptorsTraffic", "InterceptorsTransfers"),
        program("Posters", "InterceptorsImages", "InterceptorsTraffic"),
        program("Downloads", "InterceptorsTransfers"),
        program("Uploads", "InterceptorsTransfers"),
        program("Background", "InterceptorsTransfers"),
        // The interceptors are a library, so that tests can check them.
        .target(
            name: "ExampleInterceptors",
            dependencies: [product("Interceptors")],
            path: "Interceptors/Interceptors",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "WritingInterceptors",
            dependencies: ["ExampleInterceptors", product("Interceptors"), product("InterceptorsTesting")],
            path: "Interceptors/Program",
            swiftSettings: settings
        ),
        // The app's package can be read on Apple's systems only.
        .target(
            name: "FilmsModel",
            dependencies: ["Interceptors", "InterceptorsInsight", "InterceptorsTraffic"].map(product),
            path: "Films.swiftpm/Model",
            swiftSettings: settings
        ),
        // The files in Tests/ExamplesTests/Support are links to those of the library's tests.
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "ExampleInterceptors", "FilmsModel", "Offline", product("Interceptors"), product("InterceptorsInsight"),
                product("InterceptorsTesting"),
            ],
            swiftSettings: settings
        ),
    ]
)
