// swift-tools-version: 6.2
import AppleProductTypes
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func product(_ name: String) -> Target.Dependency { .product(name: name, package: "Interceptors") }

let package = Package(
    name: "Films",
    platforms: [.iOS(.v18)],
    products: [
        .iOSApplication(
            name: "Films",
            targets: ["Films"],
            bundleIdentifier: "com.example.Films",
            teamIdentifier: "",
            displayVersion: "1.0",
            bundleVersion: "1",
            appIcon: .placeholder(icon: .movieReel),
            accentColor: .presetColor(.orange),
            supportedDeviceFamilies: [.pad, .phone],
            supportedInterfaceOrientations: [.portrait, .landscapeLeft, .landscapeRight]
        )
    ],
    dependencies: [.package(name: "Interceptors", path: "../..")],
    targets: [
        .executableTarget(
            name: "Films",
            dependencies: [
                "FilmsModel", product("Interceptors"), product("InterceptorsImages"), product("InterceptorsInsight"),
            ],
            path: "App",
            swiftSettings: settings
        ),
        // The manifest of the folder Examples builds it too, because Linux can't read this one.
        .target(
            name: "FilmsModel",
            dependencies: ["Interceptors", "InterceptorsInsight", "InterceptorsTraffic"].map(product),
            path: "Model",
            swiftSettings: settings
        ),
    ]
)
