/** Entry point of `bun run sbom`: prints the bill of materials or writes it to the given file. */
import { bootstrap } from "../../deploy/local/bootstrap.ts";

process.exit(
  await bootstrap(process, async ({ root, args: [file], stdout, stderr }) => {
    if (file?.startsWith("-")) {
      (file === "--help" ? stdout : stderr).write("Usage: bun run sbom [FILE]\n");
      return file === "--help" ? 0 : 2;
    }
    const { describeMaterials } = await import("./bill_of_materials.ts");
    const text = `${await describeMaterials(root)}\n`;
    await (file === undefined ? Bun.write(Bun.stdout, text) : Bun.write(file, text));
    return 0;
  }),
);
