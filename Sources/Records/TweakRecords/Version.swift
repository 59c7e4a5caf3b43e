/// The version of the library and its packages.
package let libraryVersion = "0.1.0"
