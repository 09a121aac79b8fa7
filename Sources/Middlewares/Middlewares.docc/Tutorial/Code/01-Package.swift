// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Films",
    targets: [
        .target(name: "Films"),
        .testTarget(name: "FilmsTests", dependencies: ["Films"]),
    ]
)
