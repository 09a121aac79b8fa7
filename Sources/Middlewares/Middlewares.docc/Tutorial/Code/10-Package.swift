// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Films",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [
        .package(path: "../Interceptors")
    ],
    targets: [
        .target(
            name: "Films",
            dependencies: [.product(name: "Interceptors", package: "Interceptors")]
        ),
        .executableTarget(
            name: "Demo",
            dependencies: ["Films", .product(name: "InterceptorsTesting", package: "Interceptors")]
        ),
        .testTarget(
            name: "FilmsTests",
            dependencies: ["Films", .product(name: "InterceptorsTesting", package: "Interceptors")]
        ),
    ]
)
