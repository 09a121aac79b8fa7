// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
// Code from before Swift 6, as the apps have it that migrate.
let before: [SwiftSetting] = [.swiftLanguageMode(.v5)]

let middlewares = Target.Dependency.product(name: "Interceptors", package: "Interceptors")
let urlSession = Target.Dependency.product(name: "InterceptorsURLSession", package: "Interceptors")
let authentication = Target.Dependency.product(name: "InterceptorsAuthentication", package: "Interceptors")
let traffic = Target.Dependency.product(name: "InterceptorsTraffic", package: "Interceptors")
let stubs = Target.Dependency.product(name: "InterceptorsStubs", package: "Interceptors")

let package = Package(
    name: "Migration",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(name: "Interceptors", path: "../..")],
    targets: [
        .target(name: "Models", swiftSettings: settings),
        .target(name: "BeforeURLSession", dependencies: ["Models"], swiftSettings: before),
        .target(name: "AfterURLSession", dependencies: ["Models", middlewares, urlSession], swiftSettings: settings),
        // These stand for the packages that they are named after: see their first lines.
        .target(name: "Alamofire", path: "StandIns/Alamofire", swiftSettings: before),
        .target(name: "Moya", dependencies: ["Alamofire"], path: "StandIns/Moya", swiftSettings: before),
        .target(name: "BeforeAlamofire", dependencies: ["Models", "Alamofire"], swiftSettings: before),
        .target(name: "AfterAlamofire", dependencies: ["Models", middlewares], swiftSettings: settings),
        .target(name: "BeforeMoya", dependencies: ["Models", "Moya"], swiftSettings: before),
        .target(name: "AfterMoya", dependencies: ["Models", middlewares, stubs], swiftSettings: settings),
        .target(name: "BeforeInHouse", dependencies: ["Models", authentication], swiftSettings: before),
        .target(
            name: "AfterInHouse",
            dependencies: ["Models", middlewares, authentication, traffic, stubs],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationTests",
            dependencies: [
                "Models", "BeforeURLSession", "AfterURLSession", "BeforeAlamofire", "AfterAlamofire", "BeforeMoya",
                "AfterMoya", "BeforeInHouse", "AfterInHouse", middlewares, authentication,
                .product(name: "InterceptorsTesting", package: "Interceptors"),
            ],
            // With a stand-in, the sides before aren't run.
            swiftSettings: settings + [.define("STAND_INS")]
        ),
    ]
)
