/** Reads ZIP files as streams, like a program that unpacks a download as it arrives. */
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

class ReadZips {
  /** Prints the path, name, size in bytes and CRC-32 of each entry, separated by tabs. */
  public static void main(String[] paths) throws IOException {
    for (String path : paths) {
      try (var zip = new ZipInputStream(new BufferedInputStream(new FileInputStream(path)))) {
        byte[] buffer = new byte[65536];
        for (ZipEntry entry; (entry = zip.getNextEntry()) != null; ) {
          long bytes = 0;
          for (int read; (read = zip.read(buffer)) >= 0; ) bytes += read;
          // ZipInputStream knows an entry's checksum only after its data, and has then verified it.
          System.out.println(path + "\t" + entry.getName() + "\t" + bytes + "\t" + entry.getCrc());
        }
      }
    }
  }
}
